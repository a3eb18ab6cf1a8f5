package python

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// conclude says what came of a run, given what ended its guest.
func (r *run) conclude(p *program, ended error) (engine.Output, error) {
	var out engine.Output
	if r.instance != nil {
		out.MemoryBytes = r.memoryBytes()
	}
	switch {
	case r.halted != nil:
		return out, r.halted
	case r.outcome.verb == "error":
		return out, r.failed()
	case r.outcome.verb == "unfit":
		return out, abi.Faultf(abi.OutputInvalid, "the output cannot be written as JSON: %s", quoted(r.outcome.rest, maxMessageBytes))
	case r.outcome.verb != "answer":
		return r.silent(out, ended)
	}
	answer, changes, _ := bytes.Cut(r.outcome.rest, []byte{'\n'})
	var err error
	if out.Output, err = r.answer("output", answer); err != nil {
		return out, err
	}
	out.Context, err = r.changes(changes)
	out.Warnings = append(append(out.Warnings, p.warnings...), r.warnings...)
	if p.nothing != "" && string(answer) == "null" {
		out.Warnings = append(out.Warnings, p.nothing)
	}
	return out, err
}

// answer checks a document that the guest wrote.
func (r *run) answer(name string, text []byte) (json.RawMessage, error) {
	if len(text) > r.limits.OutputBytes {
		return nil, abi.Faultf(abi.OutputLimit, "the %s is larger than %d bytes", name, r.limits.OutputBytes)
	}
	if err := r.check(name, text); err != nil {
		return nil, abi.Faultf(abi.OutputInvalid, "the %s cannot be written as JSON: %v", name, err)
	}
	return text, nil
}

// changes is the object of the keys of the context that the guest changed, nil for none.
func (r *run) changes(text []byte) (json.RawMessage, error) {
	if string(text) == "{}" {
		return nil, nil
	}
	text, err := r.answer("context", text)
	if err != nil {
		return nil, err
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(text, &keys) != nil || keys == nil {
		return nil, abi.Faultf(abi.OutputInvalid, "the context is to be a JSON object")
	}
	for key := range keys {
		if engine.OfWorkflow(key) {
			return nil, engine.WorkflowFault(fmt.Sprintf("context[%q]", key))
		}
	}
	return text, nil
}

// silent is a guest that did not answer: it exited, it trapped, or it broke what would have answered.
func (r *run) silent(out engine.Output, ended error) (engine.Output, error) {
	exit, exited := errors.AsType[*sys.ExitError](ended)
	switch {
	case exited && exit.ExitCode() == 0:
		out.Output = json.RawMessage("null")
		return out, nil
	case exited:
		return out, abi.Faultf(abi.ToolError, "the tool exited with code %d", exit.ExitCode())
	case r.refused():
		return out, outOfMemory(r.limits.MemoryBytes)
	case ended != nil && ended != errRaised:
		return out, r.trapped(ended)
	}
	return out, abi.Faultf(abi.ToolError, "the tool did not answer").
		WithHint("it changed what Python itself needs to answer, or closed its standard input")
}

// trapped is the fault of an interpreter that a trap ended.
func (r *run) trapped(err error) error {
	trap := machine.TrapOf(err)
	if trap.IsStackOverflow() || r.overflowed() {
		return abi.Faultf(abi.StackLimit, "calls are nested deeper than the stack is large").WithHint(hintRecursion)
	}
	return abi.Faultf(abi.ToolError, "the interpreter "+engine.Trapped+"%s", trap.Message)
}

// overflowed reports whether the stack of the interpreter's C code has overflowed. Calls through C take more of it than
// their number says, which is what Python bounds.
func (r *run) overflowed() bool {
	if r.instance == nil {
		return false
	}
	s, err := stackOf(r.instance)
	return err == nil && s.overflowed()
}

const hintRecursion = "a function that calls itself may lack the condition that ends it"

// failure is what the guest says of an exception that nothing caught.
type failure struct {
	Message string `json:"message"`
	Hint    string `json:"hint"`
	Kind    string `json:"kind"`
	Fault   *int   `json:"fault"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Stack   string `json:"stack"`
}

// failed is the fault of such an exception.
func (r *run) failed() error {
	var told failure
	if json.Unmarshal(r.outcome.rest, &told) != nil {
		return abi.Faultf(abi.ToolError, "the tool failed, and its error cannot be told")
	}
	f := r.faultOf(told)
	f.File, f.Stack = cut([]byte(told.File), maxNameBytes), cut([]byte(told.Stack), maxMessageBytes)
	f.Line, f.Column = max(told.Line, 0), max(told.Column, 0)
	return f
}

func (r *run) faultOf(told failure) *abi.Fault {
	if n := told.Fault; n != nil && *n >= 0 && *n < len(r.issued) {
		issued := *r.issued[*n]
		return &issued
	}
	switch {
	case told.Kind == "recursion":
		return abi.Faultf(abi.StackLimit, "calls are nested deeper than %d", r.limits.CallDepth).WithHint(hintRecursion)
	case told.Kind == "memory" && r.refused():
		return outOfMemory(r.limits.MemoryBytes)
	}
	f := abi.Faultf(abi.ToolError, "%s", cut([]byte(told.Message), maxMessageBytes))
	f.Hint = cut([]byte(told.Hint), maxMessageBytes)
	return f
}

// refused reports whether the guest was not given the memory that it asked for.
func (r *run) refused() bool { return r.instance != nil && r.instance.Refused() }

func outOfMemory(limit int64) *abi.Fault {
	return abi.Faultf(abi.MemoryLimit, "the tool asked for more memory than the %s it may have", size(limit)).
		WithHint("limits: {memory: ...} of the tool gives it more, up to what the host allows")
}

// tooSmall is the fault of a limit below what the interpreter holds before the tool is there.
func tooSmall(limit, least int64) *abi.Fault {
	least = (least + 1<<20 - 1) >> 20
	return abi.Faultf(abi.MemoryLimit, "Python itself takes more than the %s that the tool may have", size(limit)).
		WithHint("limits: {memory: %dMiB} of the tool is the least that works, and leaves it some room", least)
}

// size is a number of bytes as people write it.
func size(bytes int64) string {
	if bytes >= 1<<20 && bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// maxQuote is how much longer a character can get when it is written as JSON.
const maxQuote = 6

// quoted is a JSON string of the guest's, of at most limit bytes; "" where it is none.
func quoted(value []byte, limit int) string {
	var text string
	if len(value) > maxQuote*limit {
		return "…"
	}
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return cut([]byte(text), limit)
}

// cut makes a text of bytes of the guest's, of at most limit bytes.
func cut(text []byte, limit int) string {
	if len(text) <= limit {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return strings.ToValidUTF8(string(text[:limit]), "") + "…"
}
