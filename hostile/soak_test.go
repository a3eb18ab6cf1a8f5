package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/hostile/corpus"
)

func TestMain(m *testing.M) {
	engines.Main()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hostile-built-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	builtDir = dir
	return m.Run()
}

// soak is the state of a soak test. The test process opens and closes the tools of many apps, while
// a benign tool stays open.
type soak struct {
	t    *testing.T
	env  *env
	pool *sandbox.Pool
	gate *admission.Gate
	app  *app.App     // the app of the benign tool
	ran  atomic.Int64 // the number of runs of hostile tools
	good int          // the number of runs of the benign tool
}

// soakTime returns the duration of the soak test. If TOOLRUN_SOAK is not set, the duration is a few
// seconds.
func soakTime(t *testing.T) time.Duration {
	if os.Getenv("TOOLRUN_SOAK") == "" {
		return 4 * time.Second
	}
	d, err := time.ParseDuration(os.Getenv("TOOLRUN_SOAK_TIME"))
	if err != nil {
		d = time.Hour
	}
	t.Logf("for %v", d)
	return d
}

// TestSoak runs hostile tools and a benign tool in one process. The process must not leak child
// processes, descriptors, goroutines or memory, and every benign run must succeed.
func TestSoak(t *testing.T) {
	s := &soak{t: t, env: newTestEnv(t)}
	cases := runnable(t, s.env, allCases(t))
	before := measure(t)
	s.begin()
	stop, cancel := context.WithTimeout(t.Context(), soakTime(t))
	defer cancel()
	var all sync.WaitGroup
	for range 2 * runtime.NumCPU() {
		all.Go(func() {
			for stop.Err() == nil {
				s.hostile(cases[rand.IntN(len(cases))])
			}
		})
	}
	all.Go(func() { s.benign(stop) })
	all.Wait()
	after := measure(t)
	if grown := int64(after.heap) - int64(before.heap); grown > maxGrowth {
		t.Errorf("the heap has grown by %d MiB; want less", grown>>20)
	}
	if err := s.pool.Close(); err != nil {
		t.Error(err)
	}
	s.compare(before)
	t.Logf("%d hostile and %d benign runs; resources before: %v; resources after, with the pool open: %v", s.ran.Load(), s.good, before, after)
}

func (s *soak) begin() {
	cache, err := os.UserCacheDir() // the folder in which toolrun stores the compiled interpreter
	if err != nil {
		cache = s.env.dir
	}
	pool, err := engines.NewPool(sandbox.Options{CacheDir: filepath.Join(cache, "toolrun", "cells")}, engines.WithPython(s.env.python))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = pool.Close() })
	gate, err := admission.New(admission.Limits{})
	if err != nil {
		s.t.Fatal(err)
	}
	declared, problems := app.Load(os.DirFS(s.env.dir), "app.yaml")
	if declared == nil {
		s.t.Fatal(problems)
	}
	s.pool, s.gate, s.app = pool, gate, declared
}

// compare fails the test if the process uses more resources than at the beginning.
func (s *soak) compare(before usage) {
	after := measure(s.t)
	for range 100 { // waits for goroutines that are about to end
		if after.goroutines <= before.goroutines {
			break
		}
		time.Sleep(20 * time.Millisecond)
		after = measure(s.t)
	}
	if after.goroutines > before.goroutines {
		stacks := make([]byte, 1<<20)
		s.t.Errorf("%d goroutines are left; want at most %d:\n%s", after.goroutines, before.goroutines, stacks[:runtime.Stack(stacks, true)])
	}
	if after.descriptors > before.descriptors {
		s.t.Errorf("%d descriptors are open; want at most %d", after.descriptors, before.descriptors)
	}
	if left := s.env.procs.strays(); left > 0 {
		s.t.Errorf("%d processes are left; want none", left)
	}
}

// hostile runs a case in a separate host.
func (s *soak) hostile(c corpus.Case) {
	declared, closeFiles, ok := s.declare(c)
	if !ok {
		return // the skipped case is not a valid app, and other tests cover invalid apps
	}
	defer closeFiles()
	h, err := host.Open(s.t.Context(), host.Options{App: declared, Backend: mem.New(), Engines: s.pool.Engines(), Gate: s.gate, SweepEvery: -1})
	if err != nil {
		return
	}
	for range 2 {
		result, err := h.Run(s.t.Context(), host.Invocation{
			Tool: declared.Tools[0].Name, Caller: host.Caller{Tenant: c.Name, User: "eve", Session: "s"}, Input: c.Input, Timeout: s.env.deadline(c),
		})
		if errors.Is(err, abi.Internal) || result == nil {
			s.t.Errorf("%s: %+v, %v", c.Name, result, err)
		}
		s.ran.Add(1)
	}
	if err := h.Close(); err != nil {
		s.t.Errorf("close the host of %s: %v", c.Name, err)
	}
}

// declare returns the app that a case declares.
func (s *soak) declare(c corpus.Case) (declared *app.App, closeFiles func(), ok bool) {
	l, err := s.env.layOut(c)
	if err != nil {
		s.t.Error(err)
		return nil, nil, false
	}
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		s.t.Error(err)
		return nil, nil, false
	}
	closeFiles = func() { root.Close() }
	if c.App {
		declared, _ = app.Load(root.FS(), app.FileName)
	} else if tool, _ := app.LoadTool(root.FS(), filepath.ToSlash(c.Tool)); tool != nil {
		for _, store := range []string{corpus.Own, corpus.Shared, corpus.Typed} {
			tool.Grants = append(tool.Grants, declare.Grant{Store: store, Verbs: []abi.Verb{abi.Read, abi.Write, abi.Delete}})
		}
		declared = &app.App{ID: c.Name, SessionIdle: s.app.SessionIdle, Stores: s.app.Stores, Tools: []app.Tool{*tool}, Files: root.FS()}
	}
	if declared == nil || len(declared.Tools) == 0 {
		closeFiles()
		return nil, nil, false
	}
	return declared, closeFiles, true
}

// benign runs the benign tool repeatedly and checks its results.
func (s *soak) benign(stop context.Context) {
	h, err := host.Open(s.t.Context(), host.Options{App: s.app, Backend: mem.New(), Engines: s.pool.Engines(), Gate: s.gate, SweepEvery: -1})
	if err != nil {
		s.t.Error(err)
		return
	}
	defer h.Close()
	for ; stop.Err() == nil; s.good++ {
		result, err := h.Run(s.t.Context(), host.Invocation{Tool: "benign", Caller: host.Caller{User: victim}, Input: json.RawMessage(`{"a":1,"b":2}`), Timeout: time.Minute})
		if err != nil {
			s.t.Errorf("good run %d: %v", s.good, err)
			return
		}
		var answer struct {
			Sum   int
			Clean bool
		}
		if err := json.Unmarshal(result.Output, &answer); err != nil || answer.Sum != 3 || !answer.Clean {
			s.t.Errorf("benign run %d returned %s", s.good, result.Output)
		}
	}
}

// usage contains the resources that the process uses.
type usage struct {
	goroutines, descriptors int
	heap                    uint64
}

func measure(t *testing.T) usage {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return usage{runtime.NumGoroutine(), len(open), now.HeapAlloc}
}

func (u usage) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d KiB", u.goroutines, u.descriptors, u.heap>>10)
}
