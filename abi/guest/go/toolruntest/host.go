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

// Host is what the functions of package toolrun reach while a test runs. It is safe for concurrent use.
type Host struct {
	t testing.TB

	mu      sync.Mutex
	stores  map[string]record
	faults  map[string]*abi.Fault
	issued  map[string]*abi.Fault // by their ids
	context json.RawMessage
	changes json.RawMessage
	logs    []abi.LogLine

	// of the run under way
	input, output, failure []byte
}

// New makes the host of a test, until it ends. There is one at a time, so tests that have one cannot be parallel.
func New(t testing.TB) *Host {
	t.Helper()
	h := &Host{
		t: t, stores: map[string]record{}, faults: map[string]*abi.Fault{}, issued: map[string]*abi.Fault{},
		context: json.RawMessage(`{"runId":"run_test","appId":"test","userId":null,"sessionId":null,"env":{},"steps":{}}`),
		input:   []byte("{}"),
	}
	release, ok := imports.Use(guest{h})
	if !ok {
		t.Fatal("toolruntest: another test has a host: tests with one are not parallel, and a subtest uses its parent's")
	}
	t.Cleanup(release)
	return h
}

// Set stores the content of a store as it is.
func (h *Host) Set(store string, content any) {
	h.t.Helper()
	text := h.encode(content)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stores[store] = record{content: text, revision: h.stores[store].revision + 1}
}

// Get returns the content of a store, nil where there is none.
func (h *Host) Get(store string) json.RawMessage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stores[store].content
}

// Fail has every call on a store end in a fault; nil ends that.
func (h *Host) Fail(store string, fault *abi.Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults[store] = fault
}

// SetContext sets the context document, an object. It begins with the ids of the run and the app alone.
func (h *Host) SetContext(document any) {
	h.t.Helper()
	text := h.encode(document)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.context = text
}

// Changes returns the keys of the context that the tool has set, as an object; nil for none.
func (h *Host) Changes() json.RawMessage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changes
}

// Logs returns the lines that were logged, without times. What a tool prints is not among them.
func (h *Host) Logs() []abi.LogLine {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]abi.LogLine(nil), h.logs...)
}

// Run runs f as a plug-in that gave it to toolrun.Handle: input and output are JSON, and what fails the run is the
// fault that a caller gets. Unlike there, what a failed run wrote stays.
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
		return nil, h.verdict()
	}
	return h.output, nil
}

// verdict is the fault of a failed run: one that the host has issued, or a tool_error.
func (h *Host) verdict() error {
	told := &abi.Fault{}
	if err := json.Unmarshal(h.failure, told); err != nil {
		h.t.Errorf("toolruntest: the run failed with what is no JSON: %q", h.failure)
	}
	told.Code = abi.ToolError
	if issued := h.issued[told.ID]; issued != nil {
		placed := *issued
		placed.File, placed.Line, placed.Stack = told.File, told.Line, told.Stack
		return &placed
	}
	told.ID = ""
	return told
}

func (h *Host) encode(value any) json.RawMessage {
	h.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		h.t.Fatalf("toolruntest: %v", err)
	}
	return text
}

// issue gives a fault an id.
func (h *Host) issue(fault *abi.Fault) *abi.Fault {
	issued := *fault
	issued.ID = strconv.Itoa(len(h.issued) + 1)
	h.issued[issued.ID] = &issued
	return &issued
}
