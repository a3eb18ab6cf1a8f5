package memory

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// RecordInfo is the metadata of a record, such as its owner, revision, size and times. RecordInfo
// does not contain the content.
type RecordInfo struct {
	Store string `json:"store"`
	// Item is the name of the record within the store, if the store has several records for each
	// user, session or app.
	Item     string     `json:"item,omitempty"`
	User     string     `json:"user_id,omitempty"`
	Session  string     `json:"session_id,omitempty"`
	Workflow string     `json:"workflow_id,omitempty"`
	Revision int64      `json:"revision"`
	Bytes    int        `json:"bytes"`
	Created  time.Time  `json:"created"`
	Updated  time.Time  `json:"updated_at"`
	Expires  *time.Time `json:"expires_at,omitempty"`
}

// List returns a page of the live records of a store. The records belong to the caller's tenant. A
// page contains at most as many records as the argument "limit". A page can contain fewer records
// than the limit, because the work for one page is bounded. If the caller has a user, a session or
// a workflow, List returns only the records of this user, session or workflow.
//
// To get the following page, pass the result "next" as the argument "after". For the last page, the
// result "next" is "". List is for operators. Tools cannot list records.
func (s *Service) List(ctx context.Context, c partition.Caller, name, after string, limit int) (found []RecordInfo, next string, err error) {
	if err := c.Check(); err != nil {
		return nil, "", err
	}
	st, err := listed(ctx, s, c, name)
	if err != nil {
		return nil, "", s.records.Fault("list records", err)
	}
	if st == nil {
		return nil, "", abi.Faultf(abi.NotFound, "the store %s does not exist", kind.Quote(name))
	}
	group, after, inShared := listGroup(s, st, c, after)
	start, err := afterCursor(group, after)
	if err != nil {
		return nil, "", err
	}
	found, life := []RecordInfo{}, newLifetimes(s)
	last, err := records.Page(s.records.Heads(ctx, st.extent(group, c)), start, limit, func(r storage.Head) (bool, error) {
		if !belongs(r.Record, c, name) {
			return false, nil
		}
		visible, err := life.visible(ctx, st, r.Record)
		if visible {
			found = append(found, st.info(r))
		}
		return visible, err
	})
	if err != nil {
		return nil, "", s.records.Fault("list records", err)
	}
	next = cursor(group, last)
	if inShared && next != "" || !inShared && next == "" && st.Block.Shared {
		next = sharedCursor + next
	}
	return found, next, nil
}

// listed returns the store with the given name if the records of the store can be listed. If the
// records cannot be listed, the function returns nil. An undeclared collection can be listed if it
// has a record.
func listed(ctx context.Context, s *Service, c partition.Caller, name string) (*store, error) {
	st := lookup(s, name)
	if st == nil || !st.Collection.Auto {
		return st, nil
	}
	found, err := s.backend.Heads(ctx, prefixOf(s.app.Group(c), name), "", 1)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return st, nil
}

// sharedCursor is the first part of some cursors. Such a cursor points to a record that the apps of
// the tenant share. List returns the shared records of a store last.
const sharedCursor = "~"

// listGroup returns two results: the group of records to which a cursor refers, and the cursor
// without sharedCursor.
func listGroup(s *Service, st *store, c partition.Caller, after string) (group storage.Key, rest string, inShared bool) {
	if rest, ok := strings.CutPrefix(after, sharedCursor); ok && st.Block.Shared {
		return partition.Shared.Group(c), rest, true
	}
	return s.app.Group(c), after, false
}

// extent returns a key prefix. The prefix is the longest common prefix of all records that the
// caller can list in the store.
func (st *store) extent(group storage.Key, c partition.Caller) storage.Key {
	key := prefixOf(group, st.Name)
	switch {
	case st.Access == declare.ScopeUser:
		return key.With(storage.Part{Tag: storage.User, Value: c.User})
	case st.Access == declare.ScopeSession:
		return key.With(storage.Part{Tag: storage.Session, Value: c.Session})
	}
	return key
}

// prefixOf returns the key prefix that the records of a store share in one group of an app.
func prefixOf(group storage.Key, name string) storage.Key {
	return group.With(storage.Part{Tag: storage.Store, Value: name})
}

// cursor encodes the key of the last record of a page. An empty cursor means that no page follows.
// The encoded key does not contain the prefix of the tenant and the app. Therefore a cursor cannot
// refer to a record of another tenant or app.
func cursor(group, last storage.Key) string {
	if last == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(last[len(group):]))
}

// afterCursor decodes a cursor.
func afterCursor(group storage.Key, text string) (storage.Key, error) {
	if text == "" {
		return "", nil
	}
	rest, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		_, err = storage.Key(rest).Parts()
	}
	if err != nil {
		return "", abi.Faultf(abi.InvalidArgument, "the parameter \"after\" is not a valid cursor").WithHint("use the value of \"next\" from the previous page")
	}
	return group + storage.Key(rest), nil
}

// belongs reports whether the caller's list of a store contains a record.
func belongs(r storage.Record, c partition.Caller, name string) bool {
	user, session, workflow := r.Key.Part(storage.User), r.Key.Part(storage.Session), r.Key.Part(storage.Workflow)
	if r.Key.Part(storage.Store) != name ||
		c.User != "" && user != "" && user != c.User ||
		c.Session != "" && session != "" && session != c.Session ||
		c.Workflow != "" && workflow != "" && workflow != c.Workflow {
		return false
	}
	if unnamed := session != "" && c.Session == "" || workflow != "" && c.Workflow == ""; unnamed && c.User != "" && user == "" {
		return slices.Contains(r.Tags, storage.SubjectTag(c.User)) // the key of the record contains no user
	}
	return true
}

// lifetimes determines which records are live, for operations that do not need a snapshot: lists,
// exports and moves. lifetimes caches sessions and workflows.
type lifetimes struct {
	s    *Service
	open map[storage.Key]bool // whether the session or workflow is open
}

func newLifetimes(s *Service) *lifetimes { return &lifetimes{s, map[storage.Key]bool{}} }

// visible reports whether a record of a store is live.
func (l *lifetimes) visible(ctx context.Context, st *store, r storage.Record) (bool, error) {
	s, open, at := l.s, l.open, l.s.now()
	if !at.Before(st.endOf(r)) {
		return false, nil
	}
	for _, tag := range r.Tags {
		key := endKey(s.app, r.Key.Tenant(), tag)
		if key == "" {
			continue
		}
		if _, known := open[key]; !known {
			found, err := s.backend.Get(ctx, key)
			if err != nil {
				return false, err
			}
			open[key] = l.isOpen(found[0], key, at)
		}
		if !open[key] {
			return false, nil
		}
	}
	return true, nil
}

// isOpen reports whether a session or workflow exists and is open. The argument is the key of its
// record.
func (l *lifetimes) isOpen(r storage.Record, key storage.Key, at time.Time) bool {
	if l.s.workflows.IsKey(key) {
		return l.s.workflows.Open(r, at)
	}
	return l.s.sessions.Open(r, at)
}

// info returns the metadata of a record of the store.
func (st *store) info(r storage.Head) RecordInfo {
	l := RecordInfo{
		Store: st.Name, Item: kind.ItemOf(r.Key), User: r.Key.Part(storage.User), Session: r.Key.Part(storage.Session),
		Workflow: r.Key.Part(storage.Workflow),
		Revision: r.Revision, Bytes: int(r.ContentBytes), Created: r.Created, Updated: r.Updated,
	}
	if st.dated {
		l.Updated = time.UnixMilli(r.Revision).UTC()
	}
	if end := st.shownEnd(r.Record); !end.IsZero() {
		l.Expires = &end
	}
	return l
}

// Purge removes all records of a store in the tenant and returns their number. The store can be
// undeclared. If the name is empty, Purge returns the fault invalid_argument.
func (s *Service) Purge(ctx context.Context, tenant, name string) (int, error) {
	if name == "" {
		return 0, abi.Faultf(abi.InvalidArgument, "a purge requires the name of a store")
	}
	total := 0
	for _, group := range groups(s, s.stores[name], partition.Caller{Tenant: tenant}) {
		n, err := s.records.DeleteWhere(ctx, storage.Selector{Prefix: prefixOf(group, name)}, func(storage.Head) {})
		if total += n; err != nil {
			return total, s.records.Fault("remove records", err)
		}
	}
	return total, s.records.Fault("remove records", releaseEmbedder(ctx, s, tenant, name))
}

// Do performs one operation under an Authority in a separate transaction. If the operation is a
// read, Do does not create the session of the caller.
func (s *Service) Do(ctx context.Context, c partition.Caller, a Authority, call abi.Call) (json.RawMessage, report.Effects, error) {
	var reply json.RawMessage
	op, _ := operationOf(s, call.Op)
	done, err := s.Transact(ctx, &Tx{Caller: c, Authority: a, ReadOnly: op.verb == abi.Read}, func(ctx context.Context, v *View) (err error) {
		reply, err = v.Call(ctx, call)
		return err
	})
	return reply, done.Effects, err
}
