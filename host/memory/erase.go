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

// eraseRounds is the maximum number of scans of an erasure. A repeated scan finds records that were
// written during the previous scan.
const eraseRounds = 5

// Erased is a summary of an erasure.
type Erased struct {
	User string `json:"user_id"`
	// Stores is the number of records removed from each store, including records of the user's
	// sessions.
	Stores map[string]int `json:"stores"`
	// Records and Bytes are the totals over all stores.
	Records int   `json:"records"`
	Bytes   int64 `json:"bytes"`
	// Sessions is the number of ended sessions, and Runs is the number of removed Results and
	// removed paused runs.
	Sessions int `json:"sessions"`
	Runs     int `json:"runs"`
	// Workflows is the number of ended workflows.
	Workflows int `json:"workflows"`
	// Files is the number of removed files that the user uploaded. Entries is the number of removed
	// ledger entries that contained the user.
	Files   int `json:"files"`
	Entries int `json:"ledger_entries"`
	// KeptShared is the number of entries in each collection with declare.EraseNever. These entries
	// belong to the app, and Erase does not remove them. At most 200,000 entries are counted.
	KeptShared map[string]int `json:"kept_shared"`
}

// Erase removes all data of a user in the tenant of the caller. The data are the records in all
// stores, including stores that are no longer declared, the sessions and workflows with their data,
// and the stored Results. If the app has blocks that the apps of the tenant share, Erase also
// removes the texts of the user in these blocks. If a run for the user has not committed before the
// erasure, the run stores nothing. Erase returns when a scan finds no more data of the user.
// Records with the scope "application" belong to the app. Erase does not remove these records, even
// if runs of the user wrote them, except for the entries of collections with declare.EraseAuthor.
// If a collection without a declaration has no more entries, Erase also removes the other records
// of the collection.
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

// evict removes the indexes that can contain words of the user of the caller from the memory of the
// process. An index can contain words of entries that expired or were forgotten before the erasure.
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

// erasure is an erasure of the user of the caller that is in progress, with a summary of the
// removed data.
type erasure struct {
	s      *Service
	caller partition.Caller
	erased *Erased
}

// mark stores a mark of the erasure. The commit of an attempt that began before the mark was stored
// fails.
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

// The method round removes the data of the user and reports whether it found data. The method round
// begins with sessions and workflows, because only a session or a workflow identifies the records
// that were written before it was bound to the user.
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

// deleteData removes all data of a data subject except sessions and workflows. The sessions and
// workflows must have been ended before, so that each is replaced by a tombstone.
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

// The method session ends a session of the user, and removes the records that were written in the
// session before the session was bound to the user.
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
		// The data are removed before the session ends, because the summary does not count records
		// that the end of the session removes.
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

// The method workflow ends a workflow of the user, and removes all records that expire with the
// workflow. The method workflow also removes the other records that were written in the workflow
// before the workflow was bound to the user.
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
