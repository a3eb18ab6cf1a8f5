package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// Entry is an entry of a collection in the form for operators.
type Entry struct {
	Namespace string `json:"namespace"`
	ID        string `json:"id"`
	// User or Session is the owner of the namespace. If the namespace belongs to the app, User and
	// Session are "", and Author is the user whose erasure removes the entry, or "".
	User     string          `json:"user_id,omitempty"`
	Session  string          `json:"session_id,omitempty"`
	Author   string          `json:"author,omitempty"`
	Content  json.RawMessage `json:"content"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Revision int64           `json:"revision"`
	Created  time.Time       `json:"created"`
	Updated  time.Time       `json:"updated_at"`
	Expires  *time.Time      `json:"expires_at,omitempty"`
}

// EntryQuery selects entries of a collection.
type EntryQuery struct {
	// Collection is the name of the collection.
	Collection string
	// Namespace selects the entries of one namespace. If Namespace is nil, the entries of all
	// namespaces are selected.
	Namespace *string
	// If Own is true, only the caller's own entries are selected. In a collection with the access
	// "session", these are the entries of the caller's session. In any other collection, they are
	// the entries of the caller's user.
	Own bool
	// After is the position at which the page starts. For the first page, After is "". For a later
	// page, After is the result "next" of the previous page.
	After string
	// Limit is the maximum number of entries. Limit must be at least 1.
	Limit int
}

// maxEntriesBytes is the maximum total size of the records of a page. If a page contains only one
// entry, the page can exceed this size.
const maxEntriesBytes = 4 << 20

// ListEntries returns a page of the live entries of a collection, with their contents. The
// collection belongs to the caller's tenant. If the caller has a user, ListEntries returns only the
// entries in the namespaces of the user. If the caller has a session, ListEntries returns only the
// entries in the namespaces of the session. A page can contain fewer entries than the limit. For
// the last page, the result "next" is "". ListEntries is for operators.
func ListEntries(ctx context.Context, s *Service, c partition.Caller, q EntryQuery) (found []Entry, next string, err error) {
	if err := c.Check(); err != nil {
		return nil, "", err
	}
	st, err := listed(ctx, s, c, q.Collection)
	if err != nil {
		return nil, "", s.records.Fault("list entries", err)
	}
	switch {
	case st == nil:
		return nil, "", noCollection(q.Collection)
	case st.Kind != declare.KindCollection:
		return nil, "", abi.Faultf(abi.InvalidArgument, "the store %q of kind %s is not a collection", st.Name, st.Kind)
	}
	group := s.app.Group(c)
	after, err := afterCursor(group, q.After)
	if err != nil {
		return nil, "", err
	}
	prefix, err := entriesPrefix(s, st, c, q.Own)
	if err != nil {
		return nil, "", err
	}
	keys, last, err := entryKeys(ctx, s, st, c, q, prefix, after)
	if err != nil {
		return nil, "", s.records.Fault("list entries", err)
	}
	found, err = entriesAt(ctx, s, st, keys)
	return found, cursor(group, last), s.records.Fault("list entries", err)
}

// entryKeys returns two results: the keys of the entries of a page, and the key after which the
// next page begins.
func entryKeys(ctx context.Context, s *Service, st *store, c partition.Caller, q EntryQuery, prefix, after storage.Key) (keys []storage.Key, last storage.Key, err error) {
	life, bytes := newLifetimes(s), int64(0)
	last, err = records.Page(s.records.Heads(ctx, prefix), after, q.Limit, func(r storage.Head) (bool, error) {
		namespace := r.Key.Part(storage.Namespace)
		if namespace == "" || q.Namespace != nil && namespace != "/"+*q.Namespace || !belongs(r.Record, c, st.Name) {
			return false, nil
		}
		visible, err := life.visible(ctx, st, r.Record)
		if err != nil || !visible {
			return false, err
		}
		if bytes += r.ContentBytes; bytes > maxEntriesBytes && len(keys) > 0 {
			return false, records.ErrPageFull
		}
		keys = append(keys, r.Key)
		return true, nil
	})
	return keys, last, err
}

// entriesAt returns the entries with the given keys. entriesAt omits entries that have been
// removed.
func entriesAt(ctx context.Context, s *Service, st *store, keys []storage.Key) ([]Entry, error) {
	entries := make([]Entry, 0, len(keys))
	if len(keys) == 0 {
		return entries, nil
	}
	stored, err := s.backend.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for _, r := range stored {
		if !r.Exists() {
			continue
		}
		e, err := entryOf(st, r)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// entryOf returns the entry in a record.
func entryOf(st *store, r storage.Record) (Entry, error) {
	info := st.info(storage.HeadOf(r))
	e := Entry{
		Namespace: r.Key.Part(storage.Namespace)[1:], ID: r.Key.Part(storage.Item), User: info.User, Session: info.Session,
		Revision: info.Revision, Created: info.Created, Updated: info.Updated, Expires: info.Expires,
	}
	if subject := r.Subject(); e.User == "" && e.Session == "" {
		e.Author = subject
	}
	return e, json.Unmarshal(st.compiled.Show(r.Content), &e)
}

// CollectionInfo describes a collection of an app.
type CollectionInfo struct {
	Name string `json:"name"`
	// Declared is false if the app does not declare the collection.
	Declared bool `json:"declared"`
	// Embedder is the id of the embedder that computed the vectors of the collection, and Dim is
	// the dimension of these vectors. Before the first entry, Embedder is "" and Dim is 0.
	Embedder string `json:"embedder,omitempty"`
	Dim      int    `json:"dimension,omitempty"`
	// MovingTo is the embedder to which Move is currently moving the entries. Without a move,
	// MovingTo is nil.
	MovingTo *MoveTarget `json:"moving_to,omitempty"`
}

// MoveTarget is the embedder to which the entries of a collection are being moved.
type MoveTarget struct {
	Embedder string `json:"embedder"`
	Dim      int    `json:"dimension"`
}

// infoOf returns the description of a collection. The argument p is the collection's pin, which
// contains the embedder.
func infoOf(name string, declared bool, p pin) CollectionInfo {
	info := CollectionInfo{Name: name, Declared: declared, Embedder: p.Embedder, Dim: p.Dim}
	if p.MovingTo != nil {
		info.MovingTo = &MoveTarget{p.MovingTo.Embedder, p.MovingTo.Dim}
	}
	return info
}

// ListCollections returns the declared collections in the order of their declaration. After these,
// it returns the undeclared collections that contain entries in the tenant, sorted by name.
func ListCollections(ctx context.Context, s *Service, tenant string) ([]CollectionInfo, error) {
	pins := map[string]pin{}
	err := s.records.Scan(ctx, s.app.System(partition.Embedding, partition.Caller{Tenant: tenant}), func(chunk []storage.Record) error {
		for _, r := range chunk {
			var p pin
			if err := json.Unmarshal(r.Content, &p); err != nil {
				return fmt.Errorf("record %s: %w: %w", r.Key, storage.ErrCorrupt, err)
			}
			pins[r.Key.Part(storage.Item)] = p
		}
		return nil
	})
	if err != nil {
		return nil, s.records.Fault("list collections", err)
	}
	found := []CollectionInfo{}
	for _, name := range s.names {
		if s.stores[name].Kind == declare.KindCollection {
			found = append(found, infoOf(name, true, pins[name]))
		}
		delete(pins, name)
	}
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		found = append(found, infoOf(name, false, pins[name]))
	}
	return found, nil
}
