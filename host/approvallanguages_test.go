package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engine/python/distribution/disttest"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// openLanguage opens a host with an app that has one tool.
func openLanguage(t *testing.T, g *gated, keys, source string, code []byte, change ...func(*host.Options)) {
	t.Helper()
	files := fstest.MapFS{
		"app.yaml": {Data: []byte("app: langs\nmemory:\n  pageHits: {access: user, description: what was counted}\ntools:\n" +
			"  tool: {source: " + source + ", description: d, grants: {pageHits: readwrite}, models: [local], " + keys + "}\n")},
		source: {Data: code},
	}
	if g.Host != nil {
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	with := func(o *host.Options) { o.Backend, o.Models, o.Now = g.backend, modelSet(t, g.server, ""), g.now }
	g.Host = openApp(t, files, append([]func(*host.Options){with}, change...)...)
}

// newLanguage returns a backend and a provider.
func newLanguage(t *testing.T) *gated {
	g := &gated{T: t, server: modeltest.Start(), backend: mem.New()}
	t.Cleanup(g.server.Close)
	return g
}

// A plug-in pauses before a write. After the approval, the approved value is stored once.
func TestApprovalOfPlugin(t *testing.T) { everywhere(t, testApprovalOfPlugin) }

func testApprovalOfPlugin(t *testing.T) {
	g := newLanguage(t)
	openLanguage(t, g, "approval: {before: [set_content]}", "tool.wasm", readPlugin(t, "../plugins/examples/hit_counter_go/tool.wasm"))
	inv := host.Invocation{Input: json.RawMessage(`{"page":"/home"}`), Key: "once"}
	pending := g.pause(inv)
	if !strings.Contains(string(pending.Effect.Arguments), `"/home":1`) {
		t.Errorf("the effect is %+v", pending.Effect)
	}
	if got := content(t, g.Host, ann, abi.GetContent, "pageHits"); got != "null" {
		t.Errorf("before the approval, the store contains %s", got)
	}
	if done := g.approve(pending.Token, report.Completed); string(done.Output) != `{"page":"/home","hits":1}` {
		t.Errorf("the output is %s", done.Output)
	}
	if again, err := run(g.Host, inv); err != nil || !again.Repeated || again.Status != report.Completed {
		t.Errorf("the same key = %+v, %v; want the Result", again, err)
	}
	if got := content(t, g.Host, ann, abi.GetContent, "pageHits"); got != `{"pages":{"/home":1}}` {
		t.Errorf("the store contains %s; want one hit", got)
	}
}

// A plug-in pauses before a request to a model. After the approval, the request is sent once.
func TestApprovalOfPluginsRequest(t *testing.T) { everywhere(t, testApprovalOfPluginsRequest) }

func testApprovalOfPluginsRequest(t *testing.T) {
	g := newLanguage(t)
	openLanguage(t, g, "approval: {before: [model.chat]}", "tool.wasm", readPlugin(t, "testdata/chat_as/tool.wasm"))
	pending := g.pause(host.Invocation{})
	if n := len(g.server.Requests()); n != 0 || pending.Effect.Operation != "model.chat" {
		t.Errorf("before the approval of %+v, the provider received %d requests", pending.Effect, n)
	}
	if done := g.approve(pending.Token, report.Completed); string(done.Output) != `"re: hello"` || len(g.server.Requests()) != 1 {
		t.Errorf("the output is %s after %d requests; want one", done.Output, len(g.server.Requests()))
	}
}

// pythonEverywhere runs a test twice. In the first run, Python tools run in workers, and in the
// second run, they run in this process.
func pythonEverywhere(t *testing.T, test func(*testing.T, func(*host.Options))) {
	t.Run("in workers", func(t *testing.T) { test(t, withPython(t)) })
	t.Run("in process", func(t *testing.T) {
		cache, err := os.UserCacheDir() // the tests of the engine also compile into this folder
		if err != nil {
			t.Skipf("this user has no cache folder: %v", err)
		}
		all := engines.InProcess(engines.WithPython(disttest.File(t)), engines.WithCache(filepath.Join(cache, "toolrun", "compiled")))
		test(t, func(o *host.Options) {
			o.Engines = all
			o.Limits.LoadTimeout = 10 * time.Minute // without a cache, the first compilation takes a minute on a busy machine
		})
	})
}

// A tool in Python pauses before a write. After the approval, the tool gets the same time and the
// same random numbers as before. The model receives each request once. The tool cannot catch the
// pause.
func TestApprovalOfPython(t *testing.T) { pythonEverywhere(t, testApprovalOfPython) }

func testApprovalOfPython(t *testing.T, python func(*host.Options)) {
	g := newLanguage(t)
	openLanguage(t, g, "approval: {before: [set_content, model.chat]}", "tool.py", []byte(`
import random, time, uuid
note = {"at": time.time(), "random": random.random(), "id": str(uuid.uuid4())}
try:
    note["text"] = model.chat("local", {"messages": [{"role": "user", "content": "hello"}]})["text"]
    memory.set_content("pageHits", note)
except BaseException as error:
    return "caught " + str(error)
return note
`), python)
	asks := g.pause(host.Invocation{})
	writes := g.approve(asks.Token, report.Paused).Approval
	if asks.Effect.Operation != "model.chat" || writes.Effect.Operation != "set_content" {
		t.Fatalf("the effects are %+v and %+v", asks.Effect, writes.Effect)
	}
	g.pass(1e9)
	done := g.approve(writes.Token, report.Completed)
	stored := content(t, g.Host, ann, abi.GetContent, "pageHits")
	if !strings.Contains(string(writes.Effect.Arguments), stored) || !strings.Contains(stored, "re: hello") {
		t.Errorf("stored %s; want what was approved: %s", stored, writes.Effect.Arguments)
	}
	if n := len(g.server.Requests()); n != 1 || len(done.Effects.Writes) != 1 {
		t.Errorf("the provider received %d requests, and the run made the writes %+v; want one each", n, done.Effects.Writes)
	}
}
