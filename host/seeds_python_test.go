package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engine/python/distribution/disttest"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/sandbox"
)

// withPython opens a host that runs Python tools in workers.
func withPython(t *testing.T) func(*host.Options) {
	t.Helper()
	cache, err := os.UserCacheDir() // the folder in which the command caches the compiled interpreter
	if err != nil {
		t.Skipf("this user has no cache folder: %v", err)
	}
	pythonPool.once.Do(func() {
		pythonPool.pool, pythonPool.err = engines.NewPool(sandbox.Options{CacheDir: filepath.Join(cache, "toolrun", "cells")}, engines.WithPython(disttest.File(t)))
	})
	if pythonPool.err != nil {
		t.Fatal(pythonPool.err)
	}
	return func(o *host.Options) { o.Engines = pythonPool.pool.Engines() }
}

// pythonPool contains the worker pool. All tests of Python tools share this pool.
var pythonPool struct {
	once sync.Once
	pool *sandbox.Pool
	err  error
}

const seedPythonApp = `
app: samples
memory:
  userPrefs: {access: user, retention: 1_month, strict: STRICT, schema: userPrefs.schema.json}
tools:
  sample: {source: sample.py, description: reads and writes, grants: {userPrefs: readwrite}}
`

// TestSeedSampleInPython runs the Python code of the documentation page without changes. The store
// that the code uses has content. The page describes two ways to declare the schema, and the test
// uses both of them.
func TestSeedSampleInPython(t *testing.T) {
	blocks := seedBlocks(t, "004_agentic_apps_memory_stores.txt")
	at := slices.IndexFunc(blocks, func(b struct{ lang, text string }) bool { return b.lang == "python" })
	if at < 0 {
		t.Fatal("the page has no Python block")
	}
	python := withPython(t)
	for _, strict := range []string{"false", "true"} {
		t.Run("strict "+strict, func(t *testing.T) {
			h := openApp(t, fstest.MapFS{
				"app.yaml":              {Data: []byte(strings.Replace(seedPythonApp, "STRICT", strict, 1))},
				"userPrefs.schema.json": {Data: []byte(blocks[1].text)},
				"sample.py":             {Data: []byte(blocks[at].text)},
			}, python)
			checkSample(t, h)
		})
	}
}

func checkSample(t *testing.T, h *host.Host) {
	t.Helper()
	ann, bob := host.Caller{User: "ann", Session: "s1"}, host.Caller{User: "bob", Session: "s2"}
	for _, who := range []host.Caller{ann, bob} {
		perform(t, h, who, abi.SetContent, `"userPrefs"`, `{"preferences":{"language":"fr"}}`)
	}
	result, err := h.Run(context.Background(), host.Invocation{Tool: "sample", Caller: ann})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Logs) != 1 || result.Logs[0].Text != "fr" {
		t.Errorf("logs = %v; want the language", result.Logs)
	}
	if len(result.Effects.Writes) != 1 || len(result.Effects.Reads) != 1 {
		t.Errorf("effects = %+v; want one store read and written", result.Effects)
	}
	if left := perform(t, h, ann, abi.GetContent, `"userPrefs"`); string(left) != "null" {
		t.Errorf("after the run the store contains %s; want it deleted", left)
	}
	if others := perform(t, h, bob, abi.GetContent, `"userPrefs"`); string(others) != `{"preferences":{"language":"fr"}}` {
		t.Errorf("another user's content is %s; want it unchanged", others)
	}
}

// TestSeedEffectsInPython checks what the Python code of the documentation page reads, projects and
// stores. TestSeedEffectsInPython also checks that the code cannot change sessionMeta.
func TestSeedEffectsInPython(t *testing.T) {
	s := newSamples(t, withPython(t))
	block := s.blocks[4]
	perform(t, s.Host, s.who, abi.SetContent, `"userPrefs"`, seedPrefs)
	code := beforeDelete(t, block) + "\nreturn [type(prefs) is dict, type(prefs['preferences']) is dict, prefs['recentOrders'], partial]"
	want := `[true,true,["a1","b2"],{"lastVisit":"2026-01-01T00:00:00Z","preferences":{"language":"fr"}}]`
	if result, err := s.run("python", code, host.Invocation{}); err != nil || string(result.Output) != want {
		t.Errorf("the run = %s, %v; want %s", result.Output, err, want)
	}
	s.wantPrefs()
	if _, err := s.run("python", block, host.Invocation{}); err != nil || s.content("userPrefs") != "null" {
		t.Errorf("after the whole sample, %v, the store contains %s; want nothing", err, s.content("userPrefs"))
	}
	s.refuseMeta("python", `memory.set_content("sessionMeta", {"metadata": {"channel": "forged"}})`, `memory.delete_content("sessionMeta")`)
}

// perform makes a memory call with the rights of an operator.
func perform(t *testing.T, h *host.Host, who host.Caller, op string, args ...string) json.RawMessage {
	t.Helper()
	call := abi.Call{Op: op}
	for _, arg := range args {
		call.Args = append(call.Args, json.RawMessage(arg))
	}
	answer, _, err := h.Stores().Do(context.Background(), who, memory.Operator(), call)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}
