package memory_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/storage/storagetest"
)

// numbered returns content in which each byte identifies its position.
func numbered(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return b
}

// fileRecords returns the keys of all records that belong to files.
func fileRecords(t *testing.T, b storage.Backend) (found []storage.Key) {
	t.Helper()
	for _, kind := range []string{"file", "file-text", "user-file"} {
		heads, err := b.Heads(context.Background(), storage.MakeKey(storage.Part{Tag: storage.System, Value: kind}), "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range heads {
			found = append(found, h.Key)
		}
	}
	return found
}

// A file of any size is returned unchanged. This applies to reads of the complete file and to reads
// of parts at any offset. Removing a file leaves no records.
func TestFileContent(t *testing.T) {
	ctx := context.Background()
	const piece = 256 << 10
	for _, size := range []int{0, 1, piece - 1, piece, piece + 1, 4*piece + 7, 9 * piece} {
		a := newApp(t)
		content, text := numbered(size), "text"
		if _, err := a.Artifacts().Add(ctx, ann, artifact.Upload{ID: "f", Content: content, Text: &text}); err != nil {
			t.Fatal(err)
		}
		got, err := a.Artifacts().Content(ctx, "acme", "f")
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("Content of a file of %d bytes = %d bytes, %v", size, len(got), err)
		}
		if n, err := a.Artifacts().Size(ctx, "acme", "f"); err != nil || n != int64(size) {
			t.Errorf("Size = %d, %v; want %d", n, err, size)
		}
		for _, offset := range []int{0, 1, piece - 1, piece, size - 1} {
			if offset < 0 || offset >= size {
				continue
			}
			part, err := a.Artifacts().Piece(ctx, "acme", "f", int64(offset))
			if err != nil || len(part) == 0 || !bytes.HasPrefix(content[offset:], part) {
				t.Errorf("Piece of a file of %d bytes from %d on = %d bytes, %v", size, offset, len(part), err)
			}
		}
		for _, other := range []string{"rival", ""} {
			if _, err := a.Artifacts().Piece(ctx, other, "f", 0); err == nil {
				t.Errorf("Piece for the tenant %q succeeded; want an error", other)
			}
		}
		if _, err := a.Artifacts().Remove(ctx, ann, "f"); err != nil {
			t.Fatal(err)
		}
		if left := fileRecords(t, a.backend); len(left) > 0 {
			t.Errorf("removal of a file of %d bytes leaves %v", size, left)
		}
	}
}

// If any operation of the backend fails during an upload, neither a file nor a part of a file
// remains.
func TestFailedUploadLeavesNothing(t *testing.T) {
	ctx := context.Background()
	content := numbered(2 << 20)
	for n := 1; ; n++ {
		b := mem.New()
		faulty := storagetest.NewFaulty(b)
		a := newApp(t, func(cfg *memory.Config) { cfg.Backend = faulty })
		if _, err := a.Sessions().Start(ctx, ann, session.Start{}); err != nil {
			t.Fatal(err)
		}
		before := faulty.Calls(storagetest.OpUpdate)
		faulty.Fail(storagetest.OpUpdate, n, storagetest.NotApplied)
		_, err := a.Artifacts().Add(ctx, ann, artifact.Upload{ID: "f", Content: content})
		if err == nil {
			if n < 3 || faulty.Calls(storagetest.OpUpdate)-before >= n {
				t.Fatalf("upload succeeded although its update %d failed", n)
			}
			return
		}
		if left := fileRecords(t, b); len(left) > 0 {
			t.Errorf("upload with the failing update %d leaves %v", n, left)
		}
		if files, err := a.Artifacts().List(ctx, ann); err != nil || len(files) > 0 {
			t.Errorf("upload with the failing update %d leaves %v, %v", n, files, err)
		}
	}
}

// erasing is a backend that erases a user before one update of the backend.
type erasing struct {
	storage.Backend
	before int
	erase  func()
}

func (b *erasing) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	if b.before--; b.before == 0 {
		b.erase()
	}
	return b.Backend.Update(ctx, on, fn)
}

// If the user is erased at any step of an upload, the upload fails, and no data of the user remain.
func TestErasureDuringUpload(t *testing.T) {
	ctx := context.Background()
	for n := 1; ; n++ {
		inner := mem.New()
		plain := newApp(t, func(cfg *memory.Config) { cfg.Backend = inner })
		plain.must(ann, abi.SetContent, `"notes"`, `{"a":1}`)
		b := &erasing{Backend: inner, before: n, erase: func() {
			if _, err := plain.Erase(ctx, ann); err != nil {
				t.Fatal(err)
			}
		}}
		a := newApp(t, func(cfg *memory.Config) { cfg.Backend = b })
		_, err := a.Artifacts().Add(ctx, ann, artifact.Upload{ID: "f", Content: numbered(2 << 20), Began: plain.clock.Now()})
		if b.before > 0 {
			if n < 3 || err != nil {
				t.Fatalf("%d updates, %v", n-1, err)
			}
			return
		}
		if !errors.Is(err, abi.Cancelled) && !errors.Is(err, abi.SessionEnded) {
			t.Errorf("upload with an erasure during update %d = %v; want an error", n, err)
		}
		if left := fileRecords(t, inner); len(left) > 0 {
			t.Errorf("upload with an erasure during update %d leaves %v", n, left)
		}
	}
}

// The files of an ended session remain and are listed. Only the owner of the files can remove the
// files.
func TestFilesOfEndedSession(t *testing.T) {
	ctx := context.Background()
	a := newApp(t)
	if _, err := a.Artifacts().Add(ctx, ann, artifact.Upload{ID: "f", Content: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Sessions().End(ctx, ann); err != nil {
		t.Fatal(err)
	}
	if files, err := a.Artifacts().List(ctx, ann); err != nil || len(files) != 1 {
		t.Errorf("an ended session lists %v, %v", files, err)
	}
	other := partition.Caller{Tenant: "acme", User: "bob", Session: "s1", Run: "r"}
	if _, err := a.Artifacts().Remove(ctx, other, "f"); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("Remove for another user = %v", err)
	}
	if _, err := a.Artifacts().Add(ctx, ann, artifact.Upload{ID: "g", Content: []byte("x")}); !errors.Is(err, abi.SessionEnded) {
		t.Errorf("Add to an ended session = %v", err)
	}
	if _, err := a.Artifacts().Remove(ctx, ann, "f"); err != nil {
		t.Error(err)
	}
	if left := fileRecords(t, a.backend); len(left) > 0 {
		t.Errorf("after the removal %v is left", left)
	}
	if _, err := a.Sessions().Start(ctx, ann, session.Start{}); !errors.Is(err, abi.SessionEnded) {
		t.Errorf("the session after the removal = %v; want that it has ended", err)
	}
}

// If a session was bound to a user, an erasure of the user also removes the files that were
// uploaded to the session before the binding. The erasure removes these files even if the session
// ended before the erasure.
func TestErasureOfBoundSessionsFiles(t *testing.T) {
	ctx := context.Background()
	a := newApp(t)
	visitor := partition.Caller{Tenant: "acme", Session: "v1", Run: "r"}
	if _, err := a.Artifacts().Add(ctx, visitor, artifact.Upload{ID: "f", Content: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	owner := partition.Caller{Tenant: "acme", User: "ann", Session: "v1", Run: "r"}
	if _, err := a.Sessions().Start(ctx, owner, session.Start{}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Sessions().End(ctx, owner); err != nil {
		t.Fatal(err)
	}
	erased, err := a.Erase(ctx, owner)
	if err != nil || erased.Files != 1 {
		t.Errorf("Erase = %+v, %v; want 1 file", erased, err)
	}
	if _, err := a.Artifacts().Content(ctx, "acme", "f"); !errors.Is(err, abi.NotFound) {
		t.Errorf("Content after the erasure = %v", err)
	}
	if left := fileRecords(t, a.backend); len(left) > 0 {
		t.Errorf("the erasure leaves %v", left)
	}
}

// The sweep removes the records of an unfinished upload.
func TestSweepOfUploads(t *testing.T) {
	ctx := context.Background()
	for n := 2; n < 6; n++ {
		b := mem.New()
		faulty := storagetest.NewFaulty(b)
		a := newApp(t, func(cfg *memory.Config) { cfg.Backend = faulty })
		faulty.Fail(storagetest.OpUpdate, n, storagetest.Dies)
		if _, err := a.Artifacts().Add(ctx, ann, artifact.Upload{ID: "f", Content: numbered(4 << 20)}); err == nil {
			t.Fatalf("upload succeeded although the host stopped after update %d", n)
		}
		after := newApp(t, func(cfg *memory.Config) { cfg.Backend = b })
		if left := fileRecords(t, b); n > 2 && len(left) == 0 {
			t.Errorf("after %d updates nothing is stored", n-1)
		}
		after.clock.Advance(3 * time.Hour)
		if _, err := after.Sweep(ctx, "acme", 100); err != nil {
			t.Fatal(err)
		}
		if left := fileRecords(t, b); len(left) > 1 { // only the record of the session can remain
			t.Errorf("the sweep after %d updates leaves %v", n-1, left)
		}
	}
}
