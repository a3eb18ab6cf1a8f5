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

// conclude returns the output or the error of a run. The argument "ended" is the error that the
// call to the guest returned.
func (r *run) conclude(p *program, ended error) (engine.Output, error) {
	var out engine.Output
	if r.instance != nil {
		out.MemoryBytes = r.memoryBytes()
	}
	outcome := r.channel.outcome
	switch {
	case r.channel.halted != nil:
		return out, r.channel.halted
	case outcome.verb == "error":
		return out, r.failed()
	case outcome.verb == "unfit":
		return out, abi.Faultf(abi.OutputInvalid, "the output cannot be written as JSON: %s", quoted(outcome.rest, maxMessageBytes))
	case outcome.verb != "answer":
		return r.silent(out, ended)
	}
	answer, changes, _ := bytes.Cut(outcome.rest, []byte{'\n'})
	var err error
	if out.Output, err = r.checkDocument("output", answer); err != nil {
		return out, err
	}
	out.Context, err = r.changes(changes)
	out.Warnings = append(append(out.Warnings, p.warnings...), r.warnings...)
	if p.nothing != "" && string(answer) == "null" {
		out.Warnings = append(out.Warnings, p.nothing)
	}
	return out, err
}

// checkDocument checks the size and the syntax of a JSON document that the guest wrote.
func (r *run) checkDocument(name string, text []byte) (json.RawMessage, error) {
	if len(text) > r.limits.OutputBytes {
		return nil, abi.Faultf(abi.OutputLimit, "the %s is larger than %d bytes", name, r.limits.OutputBytes)
	}
	if err := checkJSON(name, text, r.limits.ValueNesting); err != nil {
		return nil, abi.Faultf(abi.OutputInvalid, "the %s cannot be written as JSON: %v", name, err)
	}
	return text, nil
}

// changes returns a JSON object with the context keys that the guest changed. If the guest changed
// no key, the method returns nil.
func (r *run) changes(text []byte) (json.RawMessage, error) {
	if string(text) == "{}" {
		return nil, nil
	}
	text, err := r.checkDocument("context", text)
	if err != nil {
		return nil, err
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(text, &keys) != nil || keys == nil {
		return nil, abi.Faultf(abi.OutputInvalid, "the context must be a JSON object")
	}
	for key := range keys {
		if engine.ReservedKey(key) {
			return nil, engine.ReservedKeyFault(fmt.Sprintf("context[%q]", key))
		}
	}
	return text, nil
}

// silent returns the result of a run if the guest sent no reply. A guest sends no reply if the
// guest exited, if it trapped, or if it damaged the code that sends replies.
func (r *run) silent(out engine.Output, ended error) (engine.Output, error) {
	exit, exited := errors.AsType[*sys.ExitError](ended)
	switch {
	case exited && exit.ExitCode() == 0:
		out.Output = json.RawMessage("null")
		return out, nil
	case exited:
		return out, abi.Faultf(abi.ToolError, "the tool exited with code %d", exit.ExitCode())
	case r.deniedMemory():
		return out, outOfMemory(r.limits.MemoryBytes)
	case ended != nil && ended != errRaised:
		return out, r.trapped(ended)
	}
	return out, abi.Faultf(abi.ToolError, "the tool ended without an output").
		WithHint("check whether the tool closes its standard input or modifies Python's internals")
}

// trapped returns the fault of a run if the interpreter trapped.
func (r *run) trapped(err error) error {
	trap := machine.TrapOf(err)
	if trap.IsStackOverflow() || r.overflowed() {
		return abi.Faultf(abi.StackLimit, "nested calls overflowed the stack").WithHint(hintRecursion)
	}
	return abi.Faultf(abi.ToolError, "the interpreter "+engine.Trapped+"%s", trap.Message)
}

// overflowed reports whether the stack of the interpreter's C code has overflowed. The recursion
// limit bounds the number of nested Python calls. But calls that pass through C code use more of
// the C stack than other calls.
func (r *run) overflowed() bool {
	if r.instance == nil {
		return false
	}
	s, err := stackOf(r.instance)
	return err == nil && s.overflowed()
}

const hintRecursion = "check that recursive functions terminate"

// failure is a report from the guest about an uncaught exception.
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

// failed returns the fault for an uncaught exception.
func (r *run) failed() error {
	var report failure
	if json.Unmarshal(r.channel.outcome.rest, &report) != nil {
		return abi.Faultf(abi.ToolError, "the tool failed, and the error of the tool cannot be read")
	}
	f := r.faultOf(report)
	f.File, f.Stack = cut([]byte(report.File), maxNameBytes), cut([]byte(report.Stack), maxMessageBytes)
	f.Line, f.Column = max(report.Line, 0), max(report.Column, 0)
	return f
}

func (r *run) faultOf(report failure) *abi.Fault {
	if n := report.Fault; n != nil && *n >= 0 && *n < len(r.memory.issued) {
		issued := *r.memory.issued[*n]
		return &issued
	}
	switch {
	case report.Kind == "recursion":
		return abi.Faultf(abi.StackLimit, "the call depth exceeds %d", r.limits.CallDepth).WithHint(hintRecursion)
	case report.Kind == "memory" && r.deniedMemory():
		return outOfMemory(r.limits.MemoryBytes)
	}
	f := abi.Faultf(abi.ToolError, "%s", cut([]byte(report.Message), maxMessageBytes))
	f.Hint = cut([]byte(report.Hint), maxMessageBytes)
	return f
}

// deniedMemory reports whether the guest requested more memory than its limit allows.
func (r *run) deniedMemory() bool { return r.instance != nil && r.instance.Refused() }

func outOfMemory(limit int64) *abi.Fault {
	return abi.Faultf(abi.MemoryLimit, "the tool exceeded its memory limit of %s", size(limit)).
		WithHint("raise limits.memory of the tool, or the host's limit")
}

// tooSmall returns the fault for a memory limit with which the interpreter cannot start.
func tooSmall(limit, used int64) *abi.Fault {
	mebibytes := (used + 1<<20 - 1) >> 20
	return abi.Faultf(abi.MemoryLimit, "the Python interpreter needs more memory than the tool's limit of %s", size(limit)).
		WithHint("set `limits: {memory: %dMiB}` for the tool, or a higher limit if the tool needs more memory for data", mebibytes)
}

// size formats a number of bytes for messages.
func size(bytes int64) string {
	if bytes >= 1<<20 && bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// maxQuote is the maximum factor by which a character grows when it is encoded as JSON.
const maxQuote = 6

// quoted decodes a JSON string from the guest and truncates the result to limit bytes. If the value
// is not a JSON string, the result is "".
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

// cut converts bytes from the guest to valid UTF-8. The result has at most limit bytes.
func cut(text []byte, limit int) string {
	if len(text) <= limit {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return strings.ToValidUTF8(string(text[:limit]), "") + "…"
}
