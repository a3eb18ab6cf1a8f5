package enginetest

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// Memory is a simple host for tests. A Memory stores contents in a map. Calls to some stores fail
// in a defined way. Memory does not merge, project or check contents. A Memory is safe for
// concurrent use.
type Memory struct {
	// Faults maps the names of stores to faults. All calls to such a store return its fault.
	Faults map[string]*abi.Fault
	// Halts maps the names of stores to errors. Any call to such a store ends the run with its
	// error.
	Halts map[string]error
	// LogHalts is the error that ends the run when the guest logs a line, or nil.
	LogHalts error

	mu      sync.Mutex
	content map[string]json.RawMessage
	calls   []abi.Call
	logs    []abi.LogLine
	ids     int
}

// NewMemory returns a Memory that has the stores "forbidden" and "halt". A call to the store
// "forbidden" fails with access_denied. A call to the store "halt" ends the run with the error
// "halts".
func NewMemory(halts error) *Memory {
	return &Memory{
		Faults: map[string]*abi.Fault{"forbidden": {
			Code:       abi.AccessDenied,
			Message:    "the tool may not read forbidden",
			Op:         abi.GetContent,
			Store:      "forbidden",
			Violations: []abi.Violation{{Pointer: "/a", Keyword: "type", Limit: json.RawMessage(`"integer"`)}},
			Hint:       "grant it",
		}},
		Halts: map[string]error{"halt": halts},
	}
}

// Host returns the host functions that a run uses with this Memory.
func (m *Memory) Host() engine.Host { return engine.Host{Call: m.call, Log: m.log} }

// Calls returns all calls that have been made so far.
func (m *Memory) Calls() []abi.Call {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]abi.Call(nil), m.calls...)
}

// Logs returns all lines that have been logged so far, without their times.
func (m *Memory) Logs() []abi.LogLine {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]abi.LogLine(nil), m.logs...)
}

func (m *Memory) log(level abi.Level, text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.logs = append(m.logs, abi.LogLine{Level: level, Text: text})
	return m.LogHalts
}

func (m *Memory) call(ctx context.Context, call abi.Call) (json.RawMessage, error) {
	m.mu.Lock()
	m.calls = append(m.calls, call)
	m.mu.Unlock()

	var store string
	if json.Unmarshal(call.Arg(0), &store) != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "%s: the store is not a string", call.Op)
	}
	if err := m.Halts[store]; err != nil {
		return nil, err
	}
	if fault := m.Faults[store]; fault != nil {
		return nil, m.issue(fault)
	}
	if store == "slow" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return m.perform(call, store)
}

// issue returns a copy of a fault. The copy has a new ID, because each fault of a real host has an
// ID of its own.
func (m *Memory) issue(fault *abi.Fault) *abi.Fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ids++
	issued := *fault
	issued.ID = strconv.Itoa(m.ids)
	return &issued
}

func (m *Memory) perform(call abi.Call, store string) (json.RawMessage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch call.Op {
	case abi.GetContent:
		if content, ok := m.content[store]; ok {
			return content, nil
		}
		return json.RawMessage("null"), nil
	case abi.SetContent:
		if m.content == nil {
			m.content = make(map[string]json.RawMessage)
		}
		m.content[store] = call.Arg(1)
		return json.RawMessage(`{"success":true}`), nil
	case abi.DeleteContent:
		_, found := m.content[store]
		delete(m.content, store)
		return json.Marshal(map[string]bool{"success": true, "deleted": found})
	}
	return json.Marshal(map[string]any{"op": call.Op, "args": call.Args})
}
