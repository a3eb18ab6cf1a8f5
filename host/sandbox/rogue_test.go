//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// TestSlowStart checks that a run stops waiting for a worker at the deadline of the run.
func TestSlowStart(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "slow")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nexec sleep 5\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, sandbox.Options{Command: slow})
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	_, err := b.pool.Engines()[javaScript].Load(ctx, engine.Source{Path: "a.js", Code: []byte("return 1")})
	if codeOf(err) != abi.Timeout {
		t.Errorf("Load = %v; want a timeout", err)
	}
}

// TestSpeakingAhead checks that the pool does not use a result that a worker sent before the run
// started.
func TestSpeakingAhead(t *testing.T) {
	b := newBench(t, sandbox.Options{})
	ahead, answer := b.load(t, "speak ahead", ""), b.load(t, "answer", "")
	if got, err := perform(t, ahead, "", engine.Input{}, enough, engine.Host{}); got != "forged" || err != nil {
		t.Fatalf("the run returned %q, %v; want the forged result, because the guest forged it for its own run", got, err)
	}
	if got, err := perform(t, answer, "", engine.Input{}, enough, engine.Host{}); got != "done" || err != nil {
		t.Errorf("the next run = %q, %v; want done", got, err)
	}
}

// TestInheritedDescriptors checks that a worker does not inherit a file that its parent has opened.
func TestInheritedDescriptors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("the secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(file, unix.O_RDONLY, 0) // descriptors of C libraries are often not close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	b := newBench(t, sandbox.Options{})
	got, err := perform(t, b.load(t, "read what was inherited", ""), "", engine.Input{}, enough, engine.Host{})
	if err != nil || got == "done" {
		t.Errorf("a guest read a file that its parent has opened: %q, %v", got, err)
	}
}

// TestChildLeftBehind checks that, without seccomp, a child process that a guest leaves behind does
// not block the host.
func TestChildLeftBehind(t *testing.T) {
	b := newBench(t, sandbox.Options{Without: []string{sandbox.LayerSeccomp}})
	child := b.load(t, "leave a child behind", "")
	if _, err := perform(t, child, "", engine.Input{}, short, engine.Host{}); codeOf(err) != abi.Timeout {
		t.Errorf("Run = %v; want a timeout", err)
	}
	if got, err := perform(t, b.load(t, "answer", ""), "", engine.Input{}, enough, engine.Host{}); got != "done" || err != nil {
		t.Errorf("the next run = %q, %v", got, err)
	}
}

// TestSharedMemoryCounts checks that shared anonymous memory counts toward the memory limit, even
// without seccomp and cgroups.
func TestSharedMemoryCounts(t *testing.T) {
	b := newBench(t, sandbox.Options{Without: []string{sandbox.LayerSeccomp, sandbox.LayerCgroup}})
	_, err := perform(t, b.load(t, "share memory", ""), "", engine.Input{Limits: engine.Limits{MemoryBytes: 16 << 20}}, enough, engine.Host{})
	if codeOf(err) != abi.MemoryLimit {
		t.Errorf("Run = %v; want memory_limit", err)
	}
}

// TestNoSuchOperation checks that calls to unknown operations do not reach the host.
func TestNoSuchOperation(t *testing.T) {
	b := newBench(t, sandbox.Options{})
	if _, err := perform(t, b.load(t, "call something else", ""), "", engine.Input{}, enough, engine.Host{}); codeOf(err) != abi.Internal {
		t.Errorf("Run = %v; want internal", err)
	}
}

// TestLandlockWithoutItsFolder checks that Landlock is active even if the folder of a worker is
// missing. The worker must not be able to read any file.
func TestLandlockWithoutItsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	b := newBench(t, sandbox.Options{CacheDir: dir, Require: []string{sandbox.LayerLandlock}, Spares: -1})
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := b.load(t, "open a file", "")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []string{"one", "two"} {
		if got, err := perform(t, open, secret, engine.Input{Domain: tenant}, enough, engine.Host{}); err != nil || got == "done" {
			t.Errorf("with %s, a guest opened a file: %q, %v; want an error", tenant, got, err)
		}
	}
}

// TestThreadsCount checks that a run fails if its worker starts many threads. The run must also
// fail if root runs the test, although the kernel does not limit the threads of root. The limit
// includes the threads that the worker had before the run.
func TestThreadsCount(t *testing.T) {
	for _, without := range [][]string{nil, {sandbox.LayerCgroup}, {sandbox.LayerCgroup, sandbox.LayerNamespaces}} {
		b := newBench(t, sandbox.Options{Without: without})
		// Either the kernel denies the threads, or the host counts the threads and ends the run.
		got, err := b.run(t, "start threads", "", engine.Input{}, enough, engine.Host{})
		if got == "done" || err != nil && codeOf(err) != abi.MemoryLimit {
			t.Errorf("without %v: Run = %q, %v; want memory_limit", without, got, err)
		}
		if got, err := b.run(t, "answer", "", engine.Input{}, enough, engine.Host{}); got != "done" {
			t.Errorf("without %v: the next run = %q, %v; want done", without, got, err)
		}
	}
}

// TestCompilerFillsDisk checks that a compilation cannot fill the disk, neither with one large file
// nor with many files or folders. The host must remove all files that the worker wrote.
func TestCompilerFillsDisk(t *testing.T) {
	for _, act := range []string{"compile to a large file", "compile to many files", "compile to many folders"} {
		t.Run(act, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "compiled")
			b := newBench(t, sandbox.Options{CacheDir: dir})
			_, err := b.pool.Engines()[probing].Load(t.Context(), engine.Source{Path: "act.probe", Code: []byte(act)})
			if codeOf(err) != abi.SourceInvalid || !strings.Contains(err.Error(), "the compiled tool exceeds") {
				t.Errorf("Load = %v; want source_invalid, for too many or too large files", err)
			}
			if remaining, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(remaining) > 0 {
				t.Errorf("files left: %q; want none", remaining)
			}
		})
	}
}

// TestLoadFaults checks that the parent rejects faults that a compilation cannot return, and
// truncates long faults.
func TestLoadFaults(t *testing.T) {
	for act, want := range map[string]abi.Code{"compile to a conflict": abi.Internal, "compile to a long fault": abi.SourceInvalid} {
		b := newBench(t, sandbox.Options{})
		_, err := b.pool.Engines()[probing].Load(t.Context(), engine.Source{Path: "act.probe", Code: []byte(act)})
		fault, ok := errors.AsType[*abi.Fault](err)
		if !ok || fault.Code != want || fault.Outcome != "" || len(fault.Message) > 20<<10 || len(fault.Hint) > 20<<10 {
			t.Errorf("%s: Load = %s with %d bytes and the outcome %q; want %s with a short text and no outcome", act, codeOf(err), len(err.Error()), fault.Outcome, want)
		}
	}
}

// TestUnsoundLanguage checks that a language with an unsound sandbox is rejected only if isolation
// is required.
func TestUnsoundLanguage(t *testing.T) {
	language := sandbox.Language{New: func(s sandbox.Setup) engine.Engine { return probes{s.CacheDir} }, Unsound: "its compiler makes mistakes"}
	for _, require := range [][]string{nil, {sandbox.LayerProcess}} {
		pool, err := sandbox.New(sandbox.Options{Languages: []sandbox.Language{language}, Require: require})
		if err != nil {
			t.Fatal(err)
		}
		_, err = pool.Engines()[0].Load(t.Context(), engine.Source{Path: "act.probe", Code: []byte("answer")})
		if refused := codeOf(err) == abi.Unavailable; refused != (require != nil) {
			t.Errorf("with Require = %v, Load = %v", require, err)
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}
}
