//go:build !wasip1

package toolruntest

import (
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
)

// guest is the implementation of imports.Host that a plug-in calls.
type guest struct{ h *Host }

var _ imports.Host = guest{}

func (g guest) Input() []byte {
	g.h.mu.Lock()
	defer g.h.mu.Unlock()
	return g.h.input
}

func (g guest) Context() []byte {
	g.h.mu.Lock()
	defer g.h.mu.Unlock()
	return g.h.context
}

func (g guest) WriteOutput(text []byte) int32 {
	g.h.mu.Lock()
	defer g.h.mu.Unlock()
	g.h.output = text
	return 0
}

func (g guest) WriteContext(text []byte) int32 {
	g.h.mu.Lock()
	defer g.h.mu.Unlock()
	g.h.changes = text
	return 0
}

func (g guest) WriteError(text []byte) {
	g.h.mu.Lock()
	defer g.h.mu.Unlock()
	g.h.failure = text
}

func (g guest) Log(level abi.Level, text string) {
	g.h.mu.Lock()
	defer g.h.mu.Unlock()
	g.h.logs = append(g.h.logs, abi.LogLine{Level: level, Text: text})
}

func (g guest) Call(op string, args []string) (reply []byte, number int32, known bool) {
	operation, known := abi.Operations().Lookup(op)
	if !known || len(args) > len(operation.Params) {
		return nil, 0, false
	}
	g.h.mu.Lock()
	defer g.h.mu.Unlock()
	reply, fault := g.h.perform(op, args)
	if fault == nil {
		return reply, int32(len(reply)), true
	}
	fault = g.h.issue(fault)
	reply, err := json.Marshal(fault)
	if err != nil {
		g.h.t.Errorf("toolruntest: encode fault: %v", err)
	}
	return reply, -int32(fault.Code.Number()), true
}
