package artifact_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/txn"
)

// backend is a backend. After a given number of successful commits, its commits fail. Removals do
// not fail.
type backend struct {
	storage.Backend
	commits *int
}

func (b backend) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	if *b.commits--; *b.commits < 0 {
		return errors.New("no disk")
	}
	return b.Backend.Update(ctx, on, fn)
}

// quota has no limits.
type quota struct{}

func (quota) Budget() storage.Budget       { return storage.Budget{} }
func (quota) Reclaim(context.Context) bool { return false }

// metadata is a session.Metadata. Its methods fail, because the tests must not set metadata.
type metadata struct{}

func (metadata) Patch(json.RawMessage) (any, error) { return nil, nil }

func (metadata) Merge(json.RawMessage, any) (json.RawMessage, error) {
	return nil, errors.New("unexpected metadata")
}

var ann = partition.Caller{Tenant: "acme", User: "ann", Session: "s1", Run: "r"}

// app contains the files and the sessions of an app. After a given number of commits, the backend
// of the app fails.
type app struct {
	*artifact.Artifacts
	sessions *session.Sessions
	db       *records.DB
	now      time.Time
	commits  int
}

func open() *app {
	a := &app{now: time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC), commits: 1000}
	a.db = records.New(records.Config{
		App: "shop", Backend: backend{mem.New(), &a.commits}, Now: func() time.Time { return a.now },
		Quota: func(partition.Caller) txn.Quota { return quota{} },
	})
	a.sessions = session.New(a.db, session.Config{Idle: time.Hour, Metadata: metadata{}})
	a.Artifacts = artifact.New(a.db, a.sessions, func(tenant string, f artifact.Artifact) string { return tenant + "/" + f.ID })
	return a
}

// left returns how many stored records belong to files.
func (a *app) left(t *testing.T) (n int) {
	t.Helper()
	for _, kind := range []string{partition.File, partition.FileText, partition.Upload} {
		err := a.db.ScanHeads(t.Context(), a.db.App.System(kind, ann), func(heads []storage.Head) error {
			n += len(heads)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// If any commit of Add fails, Add must remove all records that it has stored.
func TestAddIsAtomic(t *testing.T) {
	text := "some text"
	up := artifact.Upload{ID: "f1", Filename: "a.txt", Content: bytes.Repeat([]byte("x"), 2<<20), Text: &text}
	for failing := 0; ; failing++ {
		a := open()
		a.commits = failing
		_, err := a.Add(t.Context(), ann, up)
		if err == nil {
			if failing < 4 {
				t.Errorf("the file was stored in %d commits; want several", failing)
			}
			break
		}
		if !errors.Is(err, abi.Unavailable) || a.left(t) != 0 {
			t.Errorf("after %d commits Add = %v, and %d records are left; want unavailable and none", failing, err, a.left(t))
		}
		a.commits = 1000
		if files, err := a.List(t.Context(), ann); failing > 0 && (err != nil || len(files) != 0) {
			t.Errorf("after %d commits the session lists %+v, %v", failing, files, err)
		}
	}
}

// A file can still exist after its session has ended, until the file expires. Only the user of this
// file can remove it. When a file is removed, all its records are deleted.
func TestFileOutlivesSession(t *testing.T) {
	a, text := open(), "some text"
	content := bytes.Repeat([]byte("0123456789"), 60<<10) // at most three pieces of 256 KiB
	file, err := a.Add(t.Context(), ann, artifact.Upload{ID: "f1", Filename: "a.txt", Content: content, Text: &text})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.sessions.End(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Content(t.Context(), "acme", "f1"); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the content has %d bytes, %v; want %d", len(got), err, len(content))
	}
	if _, err := a.Content(t.Context(), "rival", "f1"); !errors.Is(err, abi.NotFound) {
		t.Errorf("Content for another tenant = %v; want not_found", err)
	}
	if _, err := a.SetActive(t.Context(), ann, "f1", false); !errors.Is(err, abi.SessionEnded) {
		t.Errorf("SetActive after the end = %v; want session_ended", err)
	}
	bob := partition.Caller{Tenant: "acme", User: "bob", Session: "s1", Run: "r"}
	if _, err := a.Remove(t.Context(), bob, "f1"); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("Remove for another user = %v; want access_denied", err)
	}
	if removed, err := a.Remove(t.Context(), ann, "f1"); err != nil || removed != file || a.left(t) != 0 {
		t.Errorf("Remove = %+v, %v, and %d records are left; want the file and none", removed, err, a.left(t))
	}
}

// If an upload is not finished, a sweep removes its records. The sweep must not remove other
// records.
func TestSweep(t *testing.T) {
	a := open()
	if _, err := a.Add(t.Context(), ann, artifact.Upload{ID: "f1", Content: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	whole := a.left(t)
	key := a.db.App.System(partition.Upload, partition.Caller{Tenant: "acme"}, storage.Part{Tag: storage.Item, Value: "f2"})
	piece := a.db.App.System(partition.File, partition.Caller{Tenant: "acme"},
		storage.Part{Tag: storage.Item, Value: "f2"}, storage.Part{Tag: storage.Item, Value: "0000"})
	for _, key := range []storage.Key{key, piece} {
		err := records.Swap(t.Context(), a.db.Backend, key, func(now storage.Record) ([]storage.Write, error) {
			return a.db.Write(nil, now, key, "x", time.Time{}, ann)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Sweep(t.Context(), "acme", a.now.Add(-time.Second)); err != nil || a.left(t) != whole+2 {
		t.Errorf("Sweep = %v, and %d records are left; want the unfinished upload kept", err, a.left(t))
	}
	if err := a.Sweep(t.Context(), "acme", a.now); err != nil || a.left(t) != whole {
		t.Errorf("Sweep = %v, and %d records are left; want the %d of the finished file", err, a.left(t), whole)
	}
}

// Guests see all files that have not expired. They can read the text of a file if it is active.
func TestShow(t *testing.T) {
	a, text := open(), "some text"
	for _, id := range []string{"f1", "f2"} {
		if _, err := a.Add(t.Context(), ann, artifact.Upload{ID: id, Content: []byte("x"), Text: &text}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.SetActive(t.Context(), ann, "f2", false); err != nil {
		t.Fatal(err)
	}
	list, err := a.sessions.Files(t.Context(), ann)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := a.Show(t.Context(), ann, list, a.now)
	if err != nil || len(shown) != 2 || shown[0].Text == nil || *shown[0].Text != text || shown[1].Text != nil {
		t.Errorf("Show = %+v, %v; want two files, the first with its text", shown, err)
	}
	if shown[0].DownloadURL == nil || *shown[0].DownloadURL != "acme/f1" {
		t.Errorf("download URL = %v; want acme/f1", shown[0].DownloadURL)
	}
	if shown, err := a.Show(t.Context(), ann, list, a.now.Add(artifact.Retention)); err != nil || len(shown) != 0 {
		t.Errorf("after the retention Show = %+v, %v; want none", shown, err)
	}
}
