//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

func TestCacheDirIsAbsolute(t *testing.T) {
	if _, err := sandbox.New(sandbox.Options{Languages: languages, CacheDir: "cache"}); err == nil || !strings.Contains(err.Error(), "absolute") {
		t.Errorf("New with a relative CacheDir = %v", err)
	}
}

// TestCompilingSurvivesTheRun starts a run whose worker must first compile the tool. The run ends
// before the end of the compilation. The next run must use the same worker.
func TestCompilingSurvivesTheRun(t *testing.T) {
	b := newBench(t, sandbox.Options{Workers: 2})
	program := b.load(t, "compile slowly", "app")
	in := engine.Input{Domain: "another tenant", Input: []byte(`{}`)}
	if _, err := program.Run(t.Context(), engine.Input{Domain: "tenant", Input: []byte(`{}`)}, engine.Host{}); err != nil {
		t.Fatal(err) // this run uses the worker that compiled the tool
	}
	warm := program.(engine.Warmer)
	// If a run ends before its worker has started, the next run needs a new worker. Therefore the
	// test tries several runs. Each of them is shorter than the compilation.
	for patience := 20 * time.Millisecond; !warm.IsWarm(in.Domain); patience += 10 * time.Millisecond {
		if patience > 150*time.Millisecond {
			t.Fatal("the worker does not become ready")
		}
		if err := runFor(t, program, in, patience); !errors.Is(err, abi.Timeout) && !warm.IsWarm(in.Domain) {
			t.Fatalf("Run = %v; want a timeout while the tool is compiled", err)
		}
		time.Sleep(300 * time.Millisecond) // compiling ends meanwhile
	}
	if _, err := program.Run(t.Context(), in, engine.Host{}); err != nil {
		t.Error(err)
	}
}

// runFor runs a program with a deadline. The program needs more time than the deadline allows.
func runFor(t *testing.T, p engine.Program, in engine.Input, patience time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := p.Run(ctx, in, engine.Host{})
	return err
}

// TestCloseWhileCompiling checks that Close cancels a compilation and does not wait for its end.
func TestCloseWhileCompiling(t *testing.T) {
	b := newBench(t, sandbox.Options{Workers: 2})
	program := b.load(t, "compile slowly", "app")
	if _, err := program.Run(t.Context(), engine.Input{Domain: "tenant", Input: []byte(`{}`)}, engine.Host{}); err != nil {
		t.Fatal(err)
	}
	if err := runFor(t, program, engine.Input{Domain: "another tenant", Input: []byte(`{}`)}, 20*time.Millisecond); !errors.Is(err, abi.Timeout) {
		t.Fatalf("Run = %v; want a timeout while the tool is compiled", err)
	}
	if err := program.Close(); err != nil {
		t.Error(err)
	}
	if got, err := perform(t, b.load(t, "answer", "app"), "", engine.Input{}, enough, engine.Host{}); got != "done" || err != nil {
		t.Errorf("the next program = %q, %v", got, err)
	}
	if text := b.log.text(); strings.Contains(text, "died") {
		t.Errorf("the log reports an intended kill: %s", text)
	}
}

// TestWarm checks that Warm prepares a worker before the first run.
func TestWarm(t *testing.T) {
	b := newBench(t, sandbox.Options{Workers: 2})
	program := b.load(t, "compile slowly", "app")
	warm := program.(engine.Warmer)
	for _, domain := range []string{"one", "two"} {
		if err := warm.Warm(t.Context(), domain); err != nil {
			t.Fatal(err)
		}
		if !warm.IsWarm(domain) {
			t.Errorf("the program is not warm for %s", domain)
		}
	}
	if warm.IsWarm("three") {
		t.Error("the program is warm for a domain without a call to Warm")
	}
}
