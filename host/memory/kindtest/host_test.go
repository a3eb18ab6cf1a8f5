package kindtest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engine/python/distribution/disttest"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/sandbox"
)

// load returns the app that the files declare. The argument "kinds" contains the kinds that are
// registered in addition to documents.
func load(t *testing.T, files fs.FS, kinds ...kind.Kind) *app.App {
	t.Helper()
	names := []declare.Kind{declare.KindDocument}
	for _, k := range kinds {
		names = append(names, k.Name())
	}
	loaded, problems := app.Loader{Kinds: names}.Load(files, "app.yaml")
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return loaded
}

// openHost applies the changes to the options, and then opens a host for the app in the files. By
// default, the engines run in this process. The host is closed when the test ends.
func openHost(t *testing.T, files fs.FS, o host.Options, changes ...func(*host.Options)) *host.Host {
	t.Helper()
	o.App, o.Engines, o.SweepEvery = load(t, files, o.Kinds...), engines.InProcess(), -1
	for _, change := range changes {
		change(&o)
	}
	h, err := host.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// inWorkers configures a host so that it runs all tools in worker processes, including Python
// tools.
func inWorkers(t *testing.T) func(*host.Options) {
	t.Helper()
	cache, err := os.UserCacheDir() // contains the compiled interpreter
	if err != nil {
		t.Skipf("this user has no folder for caches: %v", err)
	}
	pool, err := engines.NewPool(sandbox.Options{CacheDir: filepath.Join(cache, "toolrun", "cells")}, engines.WithPython(disttest.File(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return func(o *host.Options) { o.Engines = pool.Engines() }
}

var ann = host.Caller{User: "ann"}

func run(t *testing.T, h *host.Host, inv host.Invocation) *report.Result {
	t.Helper()
	if inv.Caller == (host.Caller{}) {
		inv.Caller = ann
	}
	result, err := h.Run(t.Context(), inv)
	if err != nil {
		t.Fatalf("Run of %s: %v", inv.Tool, err)
	}
	return result
}
