package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/txn"
)

// quota implements a quota without limits.
type quota struct{}

func (quota) Budget() storage.Budget       { return storage.Budget{} }
func (quota) Reclaim(context.Context) bool { return false }

// metadata is a session.Metadata that stores a patch unchanged.
type metadata struct{}

func (metadata) Patch(text json.RawMessage) (any, error) {
	if len(text) == 0 {
		return nil, nil
	}
	return text, nil
}

func (metadata) Merge(_ json.RawMessage, patch any) (json.RawMessage, error) {
	return patch.(json.RawMessage), nil
}

const idle = 8 * time.Hour

var ann = partition.Caller{Tenant: "acme", User: "ann", Session: "s1", Run: "r"}

// open returns Sessions with an idle time of eight hours, and their records.
func open(now *time.Time) (*session.Sessions, *records.DB) {
	*now = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	db := records.New(records.Config{
		App: "shop", Backend: mem.New(), Now: func() time.Time { return *now },
		Quota: func(partition.Caller) txn.Quota { return quota{} },
	})
	return session.New(db, session.Config{Idle: idle, Metadata: metadata{}}), db
}

func record(t *testing.T, db *records.DB, c partition.Caller) storage.Record {
	t.Helper()
	r, err := db.Get(t.Context(), db.App.Session(c))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A run writes its session if the session has not started, if the session is not bound to the run's
// user, or if the run changes the session. The run also writes the session if the last recorded use
// is older than an eighth of the idle time.
func TestStale(t *testing.T) {
	var now time.Time
	s, db := open(&now)
	visitor := partition.Caller{Tenant: "acme", Session: "s1", Run: "r"}
	stale := func(c partition.Caller, start session.Start) bool {
		t.Helper()
		is, err := s.Stale(record(t, db, c), c, start)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if !stale(visitor, session.Start{}) {
		t.Error("Stale = false for a session that has not begun; want true")
	}
	if err := s.Use(t.Context(), visitor, session.Start{Reference: "ref"}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(idle / 8)
	for _, tt := range []struct {
		name  string
		c     partition.Caller
		start session.Start
		want  bool
	}{
		{"recently used", visitor, session.Start{}, false},
		{"without a change", visitor, session.Start{Reference: "ref", Metadata: json.RawMessage(" null")}, false},
		{"not bound to its user", ann, session.Start{}, true},
		{"another reference", visitor, session.Start{Reference: "other"}, true},
		{"metadata", visitor, session.Start{Metadata: json.RawMessage(`{"a":1}`)}, true},
	} {
		if got := stale(tt.c, tt.start); got != tt.want {
			t.Errorf("%s: Stale = %t; want %t", tt.name, got, tt.want)
		}
	}
	if now = now.Add(time.Microsecond); !stale(visitor, session.Start{}) {
		t.Error("Stale = false for a session whose use was last recorded an eighth of the idle time ago; want true")
	}
}

// A sweep ends idle sessions and keeps sessions in use. Callers see an idle session as ended even
// before the sweep.
func TestSweep(t *testing.T) {
	var now time.Time
	s, db := open(&now)
	other := partition.Caller{Tenant: "acme", User: "ann", Session: "s2", Run: "r"}
	for _, c := range []partition.Caller{ann, other} {
		if _, err := s.Start(t.Context(), c, session.Start{}); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(idle)
	if err := s.Use(t.Context(), other, session.Start{}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(idle / 8)
	if s.Open(record(t, db, ann), now) || !s.Open(record(t, db, other), now) {
		t.Error("the idle session is open, or the one in use has ended")
	}
	if found, _, err := s.List(t.Context(), partition.Caller{Tenant: "acme", User: "ann"}, "", 10); err != nil || len(found) != 1 || found[0].ID != "s2" {
		t.Errorf("List = %+v, %v; want the session in use", found, err)
	}
	if err := s.Sweep(t.Context(), "acme", now, nil); err != nil {
		t.Fatal(err)
	}
	if r := record(t, db, ann); r.Expires.IsZero() {
		t.Error("the idle session has no tombstone after the sweep")
	}
	if r := record(t, db, other); !r.Expires.IsZero() {
		t.Error("the sweep ended the session in use")
	}
	if err := s.Use(t.Context(), ann, session.Start{}); !errors.Is(err, abi.SessionEnded) {
		t.Errorf("Use of an ended session = %v; want session_ended", err)
	}
}

// End removes the records that end with the session and keeps the list of its files. End rejects
// callers with another user.
func TestEnd(t *testing.T) {
	var now time.Time
	s, db := open(&now)
	if _, err := s.Start(t.Context(), ann, session.Start{Metadata: json.RawMessage(`{"a":1}`)}); err != nil {
		t.Fatal(err)
	}
	update := func(_ []storage.Record, files json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`["f1"]`), nil
	}
	if err := s.ChangeFiles(t.Context(), ann, session.FilesChange{Update: update}); err != nil {
		t.Fatal(err)
	}
	key := db.App.Group(ann).With(storage.Part{Tag: storage.Store, Value: "cart"}, storage.Part{Tag: storage.Session, Value: "s1"})
	cart := storage.Record{Key: key, Content: []byte("{}"), Revision: 1, Tags: partition.Tags(key, ann, partition.Lifetime{Session: "s1"})}
	err := db.Backend.Update(t.Context(), storage.Keys(key), func([]storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: cart}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	bob := partition.Caller{Tenant: "acme", User: "bob", Session: "s1", Run: "r"}
	if _, err := s.End(t.Context(), bob); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("End of another user's session = %v; want access_denied", err)
	}
	ended, err := s.End(t.Context(), ann)
	if err != nil || ended.Ended == nil || string(ended.Metadata) != "{}" {
		t.Errorf("End = %+v, %v; want the session, ended and without metadata", ended, err)
	}
	if r, err := db.Get(t.Context(), key); err != nil || r.Exists() {
		t.Errorf("record of the session exists = %t, %v; want false", r.Exists(), err)
	}
	if files, err := s.Files(t.Context(), ann); err != nil || string(files) != `["f1"]` {
		t.Errorf("the files are %s, %v; want the files from before the end", files, err)
	}
	if err := s.ChangeFiles(t.Context(), ann, session.FilesChange{Update: update}); !errors.Is(err, abi.SessionEnded) {
		t.Errorf("ChangeFiles after the end = %v; want session_ended", err)
	}
	if err := s.ChangeFiles(t.Context(), ann, session.FilesChange{Update: update, EvenEnded: true}); err != nil {
		t.Errorf("ChangeFiles with EvenEnded of an ended session = %v; want nil", err)
	}
	if r := record(t, db, ann); r.Expires.IsZero() {
		t.Error("a change of the files reopened the session")
	}
	now = now.Add(time.Hour)
	if again, err := s.End(t.Context(), ann); err != nil || !again.Ended.Equal(*ended.Ended) {
		t.Errorf("the second End = %v, %v; want the first end %v", again.Ended, err, ended.Ended)
	}
}

// Forget leaves a tombstone without a user, and a mark that removes the session from later ledger
// entries.
func TestForget(t *testing.T) {
	var now time.Time
	s, db := open(&now)
	if _, err := s.Start(t.Context(), ann, session.Start{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Forget(t.Context(), ann); err != nil || record(t, db, ann).Revision != 1 {
		t.Fatalf("Forget of an open session = %v, revision %d; want it unchanged", err, record(t, db, ann).Revision)
	}
	if _, err := s.End(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	if err := s.Forget(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	r := record(t, db, ann)
	state, err := session.Decode(r)
	if err != nil || state.User != "" || state.Ended == nil || slices.Contains(r.Tags, storage.SubjectTag("ann")) || r.Expires.IsZero() {
		t.Errorf("the tombstone is %+v with the tags %q, %v; want it without the user", state, r.Tags, err)
	}
	if mark, err := db.Get(t.Context(), db.App.ErasedSession(ann)); err != nil || !mark.Exists() {
		t.Errorf("mark of the session exists = %t, %v; want true", mark.Exists(), err)
	}
	if ids, err := s.IDs(t.Context(), ann); err != nil || len(ids) != 0 {
		t.Errorf("the user's sessions are %q, %v; want none", ids, err)
	}
}
