package memory

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
)

// eraseRounds is the maximum number of scans that one erasure performs. A repeated scan finds
// records that were written during the previous scan.
const eraseRounds = 5

// Erased is a summary of an erasure.
type Erased struct {
	User string `json:"user_id"`
	// Stores maps each store to the number of records removed from it. The number includes records
	// of the user's sessions.
	Stores map[string]int `json:"stores"`
	// Records and Bytes are the totals over all stores.
	Records int   `json:"records"`
	Bytes   int64 `json:"bytes"`
	// Sessions is the number of ended sessions. Runs is the number of removed Results and removed
	// paused runs.
	Sessions int `json:"sessions"`
	Runs     int `json:"runs"`
	// Workflows is the number of ended workflows.
	Workflows int `json:"workflows"`
	// Files is the number of removed files that the user had uploaded. Entries is the number of
	// removed ledger entries that contained the user.
	Files   int `json:"files"`
	Entries int `json:"ledger_entries"`
	// KeptShared contains each collection with declare.EraseNever. The value is the number of
	// entries that remain. These entries belong to the app, and Erase does not remove them. At most
	// 200,000 entries are counted.
	KeptShared map[string]int `json:"kept_shared"`
}

// Erase removes all data of a user in the tenant of the caller. The data are the records in all
// stores (including stores that are no longer declared), the sessions and workflows with their
// data, and the stored Results. If the tenant's apps share blocks, Erase also removes the user's
// texts from these blocks. If a run for the user has not committed before the erasure, the run
// stores nothing. Erase returns when a scan finds no data of the user. Records with the scope
// "application" belong to the app. Erase does not remove these records, even if runs of the user
// wrote them. The only exceptions are entries of collections with declare.EraseAuthor. If an
// undeclared collection has no more entries, Erase also removes the other records of the
// collection.
func (s *Service) Erase(ctx context.Context, c partition.Caller) (Erased, error) {
	erased := Erased{User: c.User, Stores: map[string]int{}, KeptShared: map[string]int{}}
	if c.User == "" {
		return erased, abi.Faultf(abi.InvalidArgument, "an erasure requires a user")
	}
	if err := c.Check(); err != nil {
		return erased, err
	}
	c.Session, c.Workflow = "", ""
	e := &erasure{s, c, &erased}
	defer func() { evict(s, c, erased) }()
	if err := e.mark(ctx); err != nil {
		return erased, s.records.Fault("erase a user", err)
	}
	for range eraseRounds {
		found, err := e.round(ctx)
		if err != nil {
			return erased, s.records.Fault("erase a user", err)
		}
		if !found {
			return erased, e.finish(ctx)
		}
	}
	return erased, abi.Faultf(abi.Unavailable, "the user's runs kept writing during the erasure").
		WithHint("stop the user's runs, then erase the user again")
}

// evict removes every search index that can contain words of the caller's user from the memory of
// the process. An index can contain words of entries that expired or were forgotten before the
// erasure.
func evict(s *Service, c partition.Caller, erased Erased) {
	group := s.app.Group(c)
	s.index.Evict(func(prefix storage.Key) bool {
		if !prefix.HasPrefix(group) {
			return false
		}
		if owner := prefix.Part(storage.User); owner != "" {
			return owner == c.User
		}
		name := prefix.Part(storage.Store)
		st := s.stores[name]
		return st == nil || st.Collection.Erase != declare.EraseNever || erased.Stores[name] > 0
	})
}

// finish completes an erasure that has removed the data of the user.
func (e *erasure) finish(ctx context.Context) (err error) {
	if err := releaseUndeclared(ctx, e.s, e.caller.Tenant); err != nil {
		return err
	}
	if err := forgetMaker(ctx, e.s, e.caller); err != nil {
		return e.s.records.Fault("erase the user of collections", err)
	}
	e.erased.KeptShared, err = keptEntries(ctx, e.s, e.caller.Tenant)
	return e.s.records.Fault("count the entries that are kept", err)
}

// erasure contains the state of an erasure in progress. The user of the caller is erased. The field
// "erased" counts the removed data.
type erasure struct {
	s      *Service
	caller partition.Caller
	erased *Erased
}

// mark stores a mark of the erasure. An attempt that began before the mark was stored cannot
// commit.
func (e *erasure) mark(ctx context.Context) error {
	s, c := e.s, e.caller
	keys := []storage.Key{s.app.Erased(c)}
	if s.shared {
		keys = append(keys, partition.Shared.Erased(c))
	}
	return s.backend.Update(ctx, storage.Keys(keys...), func(now []storage.Record) (writes []storage.Write, err error) {
		for i, key := range keys {
			if writes, err = s.records.Write(writes, now[i], key, struct{}{}, s.now().Add(partition.ErasedRetention), c); err != nil {
				return nil, err
			}
		}
		return writes, nil
	})
}

// round removes the data of the user and reports whether the method found data. Records can be
// older than the binding of their session or workflow to the user. Such records can be found only
// through the session or workflow, so round begins with sessions and workflows.
func (e *erasure) round(ctx context.Context) (bool, error) {
	sessions, err := e.s.sessions.IDs(ctx, e.caller)
	if err != nil {
		return false, err
	}
	for _, id := range sessions {
		if err := e.session(ctx, id); err != nil {
			return false, err
		}
	}
	workflows, err := e.s.workflows.IDs(ctx, e.caller)
	if err != nil {
		return false, err
	}
	for _, id := range workflows {
		if err := e.workflow(ctx, id); err != nil {
			return false, err
		}
	}
	n, err := e.deleteData(ctx, e.caller.User)
	return len(sessions)+len(workflows)+n > 0, err
}

// deleteData removes all data of a user except sessions and workflows. Before the call, the user's
// sessions and workflows must have been ended, so that a tombstone has replaced each of them.
func (e *erasure) deleteData(ctx context.Context, subject string) (int, error) {
	app, c, total := e.s.app, e.caller, 0
	for _, prefix := range []storage.Key{
		app.Group(c), app.System(partition.Finished, c), app.System(partition.File, c), app.System(partition.FileText, c), app.System(partition.Upload, c),
		app.System(partition.Ledger, c), app.System(partition.SleepDue, c), app.System(partition.Approval, c), app.System(partition.PausedRun, c), app.System(partition.Reembed, c),
	} {
		n, err := e.s.records.DeleteWhere(ctx, app.Tagged(c, storage.SubjectTag(subject), prefix), e.erased.count)
		if total += n; err != nil {
			return total, err
		}
	}
	if !e.s.shared {
		return total, nil
	}
	shared := partition.Shared
	n, err := e.s.records.DeleteWhere(ctx, shared.Tagged(c, storage.SubjectTag(subject), shared.Group(c)), e.erased.count)
	return total + n, err
}

// session ends a session of the user. The method also removes the records that the session
// contained before it was bound to the user.
func (e *erasure) session(ctx context.Context, id string) error {
	s, c := e.s, e.caller
	c.Session = id
	r, err := s.records.Get(ctx, s.app.Session(c))
	if err != nil {
		return err
	}
	state, err := session.Decode(r)
	if err != nil || state.User != c.User {
		return err // the session was removed, or now belongs to another user
	}
	if _, err := e.deleteData(ctx, partition.AnonymousSubject(id)); err != nil {
		return err
	}
	if state.Ended == nil {
		// The method removes the data before it ends the session, because the end of a session
		// removes records without counting them.
		if _, err := e.deleteData(ctx, c.User); err != nil {
			return err
		}
		if _, err := s.sessions.End(ctx, c); err != nil && !errors.Is(err, abi.NotFound) {
			return err
		}
		e.erased.Sessions++
	}
	return s.sessions.Forget(ctx, c)
}

// workflow ends a workflow of the user. The method also removes all records that expire with the
// workflow. The method also removes the other records that the workflow contained before the
// workflow was bound to the user.
func (e *erasure) workflow(ctx context.Context, id string) error {
	s, c := e.s, e.caller
	c.Workflow = id
	r, err := s.records.Get(ctx, s.app.Workflow(c))
	if err != nil {
		return err
	}
	state, err := session.Decode(r)
	if err != nil || state.User != c.User {
		return err // the workflow was removed, or now belongs to another user
	}
	if _, err := s.records.DeleteWhere(ctx, s.app.Tagged(c, partition.WorkflowTag(id), ""), e.erased.count); err != nil {
		return err
	}
	if _, err := e.deleteData(ctx, partition.AnonymousWorkflow(id)); err != nil {
		return err
	}
	if state.Ended == nil {
		if _, err := s.workflows.End(ctx, c); err != nil && !errors.Is(err, abi.NotFound) {
			return err
		}
		e.erased.Workflows++
	}
	return s.workflows.Forget(ctx, c)
}

// count adds a removed record to the summary.
func (e *Erased) count(h storage.Head) {
	switch h.Key.Part(storage.System) {
	case "":
		e.Stores[h.Key.Part(storage.Store)]++
		e.Records++
		e.Bytes += h.Size()
	case partition.Finished, partition.PausedRun:
		e.Runs++
	case partition.Ledger:
		e.Entries++
	case partition.File:
		e.Bytes += h.ContentBytes
		if artifact.IsManifest(h.Key) {
			e.Files++
		}
	case partition.FileText:
		e.Bytes += h.ContentBytes
	}
}
