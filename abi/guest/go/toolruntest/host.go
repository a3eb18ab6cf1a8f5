//go:build !wasip1

package toolruntest

import (
	"encoding/json"
	"strconv"
	"sync"
	"testing"

	"github.com/toolrun/toolrun/abi"
	toolrun "github.com/toolrun/toolrun/abi/guest/go"
	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
)

// Host is a host for tests. During a test, the functions of package toolrun call the Host. Host is
// safe for concurrent use.
type Host struct {
	t testing.TB

	mu      sync.Mutex
	stores  map[string]record
	faults  map[string]*abi.Fault
	issued  map[string]*abi.Fault // by id
	context json.RawMessage
	changes json.RawMessage
	logs    []abi.LogLine

	// the documents of the current run
	input, output, failure []byte
}

// New creates a host and makes it the current host until the test ends. There can be only one
// current host, so tests that use a Host cannot run in parallel.
func New(t testing.TB) *Host {
	t.Helper()
	h := &Host{
		t: t, stores: map[string]record{}, faults: map[string]*abi.Fault{}, issued: map[string]*abi.Fault{},
		context: json.RawMessage(`{"runId":"run_test","appId":"test","userId":null,"sessionId":null,"env":{},"steps":{}}`),
		input:   []byte("{}"),
	}
	release, ok := imports.Use(guest{h})
	if !ok {
		t.Fatal("toolruntest: another host is in use; do not run tests with hosts in parallel, and use the parent test's host in subtests")
	}
	t.Cleanup(release)
	return h
}

// Set replaces the content of a store.
func (h *Host) Set(store string, content any) {
	h.t.Helper()
	text := h.encode(content)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stores[store] = record{content: text, revision: h.stores[store].revision + 1}
}

// Get returns the content of a store, or nil if the store has no content.
func (h *Host) Get(store string) json.RawMessage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stores[store].content
}

// Fail makes every call to a store fail with the given fault. If f is nil, calls succeed again.
func (h *Host) Fail(store string, fault *abi.Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults[store] = fault
}

// SetContext sets the context of the run, which must be a JSON object. The initial context contains
// only the ids of the run and the app.
func (h *Host) SetContext(document any) {
	h.t.Helper()
	text := h.encode(document)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.context = text
}

// Changes returns the context keys that the tool has set, as a JSON object. If the tool has set no
// key, Changes returns nil.
func (h *Host) Changes() json.RawMessage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changes
}

// Logs returns the log lines without times. The lines do not include standard output and standard
// error.
func (h *Host) Logs() []abi.LogLine {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]abi.LogLine(nil), h.logs...)
}

// Run runs f like a plug-in that passed f to toolrun.Handle. The arguments input and the result
// output are JSON. If the run fails, the error is the fault that a caller would get. Unlike a real
// host, this Host keeps the writes of a failed run.
func Run[In, Out any](h *Host, f func(In) (Out, error), input any) (json.RawMessage, error) {
	h.t.Helper()
	text := h.encode(input)
	h.mu.Lock()
	h.input, h.output, h.failure = text, []byte("null"), nil
	h.mu.Unlock()
	code := toolrun.Run(f)
	h.mu.Lock()
	defer h.mu.Unlock()
	if code != 0 {
		return nil, h.faultOfRun()
	}
	return h.output, nil
}

// faultOfRun returns the fault of a failed run: a fault that the host has issued, or a ToolError.
func (h *Host) faultOfRun() error {
	reported := &abi.Fault{}
	if err := json.Unmarshal(h.failure, reported); err != nil {
		h.t.Errorf("toolruntest: the error of the run is not JSON: %q", h.failure)
	}
	reported.Code = abi.ToolError
	if issued := h.issued[reported.ID]; issued != nil {
		located := *issued
		located.File, located.Line, located.Stack = reported.File, reported.Line, reported.Stack
		return &located
	}
	reported.ID = ""
	return reported
}

func (h *Host) encode(value any) json.RawMessage {
	h.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		h.t.Fatalf("toolruntest: %v", err)
	}
	return text
}

// issue returns a copy of a fault with a new id.
func (h *Host) issue(fault *abi.Fault) *abi.Fault {
	issued := *fault
	issued.ID = strconv.Itoa(len(h.issued) + 1)
	h.issued[issued.ID] = &issued
	return &issued
}
