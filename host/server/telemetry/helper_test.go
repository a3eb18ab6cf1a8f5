package telemetry_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/server/telemetry"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// guest is the Go function that implements the only tool of the app.
type guest func(ctx context.Context, h engine.Host) (engine.Output, error)

// stub is an engine whose tools are implemented by a Go function.
type stub struct{ guest }

// Isolated reports that guests are isolated.
func (stub) Isolated() bool { return true }

func (stub) Info() engine.Info                                             { return engine.Info{Name: "stub", Extensions: []string{".js"}} }
func (s stub) Load(context.Context, engine.Source) (engine.Program, error) { return s, nil }
func (stub) Close() error                                                  { return nil }
func (s stub) Run(ctx context.Context, _ engine.Input, h engine.Host) (engine.Output, error) {
	return s.guest(ctx, h)
}

const declaration = `app: shop
memory:
  visits: {access: application, retention: 1_month}
  notes: {access: application, retention: 1_month}
tools:
  visit: {source: visit.js, grants: {visits: readwrite}, inputSchema: {type: object, properties: {page: {type: string}}}}
`

// guide is an agent that calls the tool of the shop.
const guide = `
AGENT: Guide
FLOW:
  ask:
    REASONING: false
    RESPOND: "Which page?"
    ON_INPUT:
      - ELSE:
        SET: page = input
        THEN: show
  show:
    REASONING: false
    CALL: visit(page)
    RESPOND: "Here is {{page}}."
    THEN: COMPLETE
`

// open opens the shop with a guest as its only tool.
func open(t testing.TB, g guest, observers ...host.Observer) *host.Host {
	t.Helper()
	return openAt(t, nil, g, observers...)
}

// openAt opens the shop with a gate.
func openAt(t testing.TB, gate *admission.Gate, g guest, observers ...host.Observer) *host.Host {
	t.Helper()
	files := fstest.MapFS{"app.yaml": {Data: []byte(declaration)}, "visit.js": {Data: []byte("return 1")}, "guide.abl": {Data: []byte(guide)}}
	declared, problems := app.Load(files, "app.yaml")
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	db := mem.New()
	h, err := host.Open(t.Context(), host.Options{Gate: gate, App: declared, Backend: db, Engines: []engine.Engine{stub{g}}, Observers: observers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = h.Close(), db.Close() })
	return h
}

// newTelemetry returns a Telemetry. newTelemetry fails the test if there is an error.
func newTelemetry(t testing.TB, opts telemetry.Options) *telemetry.Telemetry {
	t.Helper()
	tel, err := telemetry.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return tel
}

// The functions get and set return memory calls that guests make.
func get(store string) abi.Call {
	return abi.Call{Op: abi.GetContent, Args: []json.RawMessage{quoted(store)}}
}

func set(store, value string) abi.Call {
	return abi.Call{Op: abi.SetContent, Args: []json.RawMessage{quoted(store), json.RawMessage(value)}}
}

func quoted(s string) json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return text
}

// count reads and writes a store, as most tools do.
func count(ctx context.Context, h engine.Host) (engine.Output, error) {
	if _, err := h.Call(ctx, get("visits")); err != nil {
		return engine.Output{}, err
	}
	_, err := h.Call(ctx, set("visits", `{"count": 1}`))
	return engine.Output{}, err
}

// wantMetrics compares metrics with the argument "want". Only the metrics whose names occur in the
// HELP lines of this argument are compared.
func wantMetrics(t *testing.T, tel *telemetry.Telemetry, want string, names ...string) {
	t.Helper()
	if err := testutil.GatherAndCompare(tel.Registry(), strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}
