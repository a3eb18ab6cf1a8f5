//go:build linux

package cell_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/cell"
	"github.com/toolrun/toolrun/host/engine"
)

func TestCacheDirIsAbsolute(t *testing.T) {
	if _, err := cell.New(cell.Options{Languages: languages, CacheDir: "cache"}); err == nil || !strings.Contains(err.Error(), "absolute") {
		t.Errorf("New with a relative CacheDir = %v", err)
	}
}

// A run that does not wait until its cell has compiled the tool leaves the cell to the next one.
func TestCompilingSurvivesTheRun(t *testing.T) {
	b := newBench(t, cell.Options{Cells: 2})
	program := b.load(t, "compile slowly", "app")
	in := engine.Input{Domain: "another tenant", Input: []byte(`{}`)}
	if _, err := program.Run(t.Context(), engine.Input{Domain: "tenant", Input: []byte(`{}`)}, engine.Host{}); err != nil {
		t.Fatal(err) // it has the cell that compiled the tool
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := program.Run(ctx, in, engine.Host{}); !errors.Is(err, abi.Timeout) {
		t.Fatalf("Run = %v; want a timeout while the tool is compiled", err)
	}
	warm := program.(engine.Warmer)
	for !warm.IsWarm(in.Domain) {
		if t.Context().Err() != nil {
			t.Fatal("the cell never becomes ready")
		}
		time.Sleep(time.Millisecond)
	}
	if _, err := program.Run(t.Context(), in, engine.Host{}); err != nil {
		t.Error(err)
	}
}

// Warm gets a cell ready before the time of a run begins.
func TestWarm(t *testing.T) {
	b := newBench(t, cell.Options{Cells: 2})
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
		t.Error("the program is warm for a domain that nothing was done for")
	}
}
