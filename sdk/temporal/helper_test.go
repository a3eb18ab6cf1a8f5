package temporal_test

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/fstest"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/sdk/temporal"
)

var shop = fstest.MapFS{
	"app.yaml": {Data: []byte(`app: shop
memory:
  visits: {access: user, retention: 1_month}
  scores: {access: application, retention: 1_month, strict: true, schema: {type: object, properties: {best: {type: integer}}}}
facts:
  workflow.steps: {type: number}
tools:
  step: {source: step.js, grants: {workflow.steps: readwrite}}
  visit: {source: visit.js, grants: {visits: readwrite}, inputSchema: {type: object, properties: {page: {type: string}}}}
  node: {source: node.js, env: {REGION: eu}}
  slow: {source: slow.js}
  loop: {source: loop.js}
  throws: {source: throws.js}
  meddles: {source: meddles.js}
  scores: {source: scores.js, grants: {scores: readwrite}}
  stranger: {source: stranger.js}
  broken: {source: broken.js}
`)},
	"visit.js": {Data: []byte(`const last = await memory.get_content("visits");
await memory.set_content("visits", { count: (last?.count ?? 0) + 1 });
return { visits: (last?.count ?? 0) + 1 };`)},
	"step.js": {Data: []byte(`const n = 1 + (await memory.get_fact("workflow.steps") ?? 0); await memory.set_fact("workflow.steps", n); return n;`)},
	"node.js": {Data: []byte(`context.total = context.steps.fetch.output.items.length;
console.log("counted");
return { region: context.env.REGION, mode: context.env.MODE, user: context.userId };`)},
	"slow.js":     {Data: []byte(`await new Promise((done) => setTimeout(done, 2500)); return "done";`)},
	"loop.js":     {Data: []byte(`while (true) {}`)},
	"throws.js":   {Data: []byte(`console.log("about to fail"); throw new Error("no stock");`)},
	"meddles.js":  {Data: []byte(`context.steps = { fetch: { output: 1 } }; return 1;`)},
	"scores.js":   {Data: []byte(`await memory.set_content("scores", { best: "high" });`)},
	"stranger.js": {Data: []byte(`await memory.get_content("scores");`)},
	"broken.js":   {Data: []byte(`return {`)},
}

// open opens a host for the app shop with the given backend.
func open(t testing.TB, db storage.Backend) *host.Host {
	t.Helper()
	declared, problems := app.Load(shop, "app.yaml")
	if declared == nil {
		t.Fatal(problems.Err())
	}
	h, err := host.Open(t.Context(), host.Options{App: declared, Backend: db, Engines: []engine.Engine{js.New()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func openMem(t testing.TB) *host.Host {
	db := mem.New()
	t.Cleanup(func() { _ = db.Close() })
	return open(t, db)
}

// openFile opens a host for the app shop with a database file. openFile returns a function that
// closes the host and the file.
func openFile(t testing.TB, dir string) (*host.Host, func()) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(dir, "memory.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	h := open(t, db)
	return h, func() { _, _ = h.Close(), db.Close() }
}

// visits returns the record of the user ann.
func visits(t *testing.T, h *host.Host) string {
	t.Helper()
	content, _, err := h.Stores().Do(t.Context(), host.Caller{User: "ann"}, memory.Operator(), abi.Call{Op: abi.GetContent, Args: []json.RawMessage{json.RawMessage(`"visits"`)}})
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// activities returns a test environment for the activity.
func activities(t *testing.T, a *temporal.Activities) *testsuite.TestActivityEnvironment {
	env := suite().NewTestActivityEnvironment()
	env.RegisterActivity(a)
	return env
}

// suite is a test suite without log output.
func suite() *testsuite.WorkflowTestSuite {
	s := &testsuite.WorkflowTestSuite{}
	s.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	return s
}
