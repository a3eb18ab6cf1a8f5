//go:build linux

package cell_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/cell"
	"github.com/toolrun/toolrun/host/engine"
)

// A run does not wait for a cell that does not start in time: else it would hear that the cell is none.
func TestSlowStart(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "slow")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nexec sleep 5\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, cell.Options{Command: slow})
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	_, err := b.pool.Engines()[javaScript].Load(ctx, engine.Source{Path: "a.js", Code: []byte("return 1")})
	if codeOf(err) != abi.Timeout {
		t.Errorf("Load = %v; want a timeout", err)
	}
}

// What a cell says ahead is no answer to the next run.
func TestSpeakingAhead(t *testing.T) {
	b := newBench(t, cell.Options{})
	ahead, answer := b.load(t, "speak ahead", ""), b.load(t, "answer", "")
	if said, err := perform(t, ahead, "", engine.Input{}, enough, engine.Host{}); said != "forged" || err != nil {
		t.Fatalf("the guest's own lie = %q, %v; the test is wrong", said, err)
	}
	if said, err := perform(t, answer, "", engine.Input{}, enough, engine.Host{}); said != "done" || err != nil {
		t.Errorf("the next run = %q, %v; want its own answer", said, err)
	}
}

// A cell gets no descriptor of its parent's but those that it is meant to have.
func TestInheritedDescriptors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("the secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(file, unix.O_RDONLY, 0) // without close-on-exec, as libraries in C do
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	b := newBench(t, cell.Options{})
	said, err := perform(t, b.load(t, "read what was inherited", ""), "", engine.Input{}, enough, engine.Host{})
	if err != nil || said == "done" {
		t.Errorf("a guest reads what its parent has open: %q, %v", said, err)
	}
}

// Where the layer that forbids it is missing, a child that a guest leaves behind does not hold up the host.
func TestChildLeftBehind(t *testing.T) {
	b := newBench(t, cell.Options{Without: []string{cell.LayerSeccomp}})
	child := b.load(t, "leave a child behind", "")
	if _, err := perform(t, child, "", engine.Input{}, short, engine.Host{}); codeOf(err) != abi.Timeout {
		t.Errorf("Run = %v; want a timeout", err)
	}
	if said, err := perform(t, b.load(t, "answer", ""), "", engine.Input{}, enough, engine.Host{}); said != "done" || err != nil {
		t.Errorf("the next run = %q, %v", said, err)
	}
}

// Memory that is shared with nobody counts too.
func TestSharedMemoryCounts(t *testing.T) {
	b := newBench(t, cell.Options{})
	_, err := perform(t, b.load(t, "share memory", ""), "", engine.Input{Limits: engine.Limits{MemoryBytes: 16 << 20}}, enough, engine.Host{})
	if codeOf(err) != abi.MemoryLimit {
		t.Errorf("Run = %v; want memory_limit", err)
	}
}

// The name of an operation that there is not goes no further.
func TestNoSuchOperation(t *testing.T) {
	b := newBench(t, cell.Options{})
	if _, err := perform(t, b.load(t, "call something else", ""), "", engine.Input{}, enough, engine.Host{}); codeOf(err) != abi.Internal {
		t.Errorf("Run = %v; want that the cell is not believed", err)
	}
}

// Where what a cell is to read is gone, it reads nothing: it does not go without Landlock.
func TestLandlockWithoutItsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	b := newBench(t, cell.Options{CacheDir: dir, Require: []string{cell.LayerLandlock}, Spares: -1})
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := b.load(t, "open a file", "")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []string{"one", "two"} {
		if said, err := perform(t, open, secret, engine.Input{Domain: tenant}, enough, engine.Host{}); err != nil || said == "done" {
			t.Errorf("for %s a guest opens a file: %q, %v", tenant, said, err)
		}
	}
}
