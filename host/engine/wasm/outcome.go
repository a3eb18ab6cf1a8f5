package wasm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// conclude returns the output or the error of the run. The argument "result" is the value that the
// entry returned. The argument "ended" is the error that the call to the entry returned.
func (r *run) conclude(result uint64, ended error) (engine.Output, error) {
	out := engine.Output{MemoryBytes: r.used}
	if err := r.flush(); err != nil && r.halted == nil {
		r.halted = err
	}
	code := int32(uint32(result))
	if exit, ok := errors.AsType[*sys.ExitError](ended); ok && r.halted == nil {
		code, ended = int32(exit.ExitCode()), nil
	}
	switch {
	case r.halted != nil:
		return out, r.halted
	case ended != nil:
		return out, r.trapped(ended)
	case code != 0:
		return out, r.failed(code)
	}
	var err error
	if out.Output, err = r.readOutput(); err != nil {
		return out, err
	}
	if len(r.failure) > 0 {
		out.Warnings = append(out.Warnings, "the plug-in wrote an error but returned success: "+cut(r.failure, maxNameBytes))
	}
	out.Context, err = r.contextChanges()
	return out, err
}

// flush sends the remaining output of the guest. If the initialization failed, the method also
// sends the log lines of the initialization. If the host stopped the run with an error, the method
// returns this error.
func (r *run) flush() error {
	if err := r.system.Flush(); err != nil {
		return r.stopped(err)
	}
	if r.started || r.host.Log == nil {
		return nil
	}
	for _, line := range r.early {
		if err := r.host.Log(line.Level, line.Text); err != nil {
			return err
		}
	}
	return nil
}

// stopped returns the error of a run that our implementation of WASI stopped.
func (r *run) stopped(err error) error {
	if r.ctx.Err() != nil && (errors.Is(err, r.ctx.Err()) || errors.Is(err, context.Cause(r.ctx))) {
		return engine.FaultFromContext(r.ctx)
	}
	return err
}

// readOutput returns the output that the guest wrote.
func (r *run) readOutput() (json.RawMessage, error) {
	if r.output == nil {
		return json.RawMessage("null"), nil
	}
	if err := r.check("output", r.output); err != nil {
		return nil, err
	}
	return r.output, nil
}

// check returns a fault if data from the guest is not valid JSON.
func (r *run) check(name string, text []byte) error {
	err := strictjson.Check(text, strictjson.Limits{Depth: r.limits.ValueNesting})
	if err == nil {
		return nil
	}
	where := name
	if wrong, ok := errors.AsType[*strictjson.Error](err); ok {
		if path := strictjson.Path(text, wrong.Offset); strings.HasPrefix(path, "[") {
			where += path
		} else if path != "" {
			where += "." + path
		}
	}
	return abi.Faultf(abi.OutputInvalid, "the %s is not valid JSON: %s: %v", name, where, err)
}

// contextChanges returns the JSON object that the guest wrote as its context. If the guest wrote no
// context, contextChanges returns nil.
func (r *run) contextChanges() (json.RawMessage, error) {
	if r.changes == nil {
		return nil, nil
	}
	if err := r.check("context", r.changes); err != nil {
		return nil, err
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(r.changes, &keys) != nil || keys == nil {
		return nil, abi.Faultf(abi.OutputInvalid, "the context must be a JSON object")
	}
	for key := range keys {
		if engine.ReservedKey(key) {
			return nil, engine.ReservedKeyFault("context." + key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return r.changes, nil
}

// failed returns the fault of a run if the entry returned a nonzero code.
func (r *run) failed(code int32) error {
	if r.tooLarge {
		return abi.Faultf(abi.OutputLimit, "the output or the context exceeds %d bytes", r.limits.OutputBytes)
	}
	text := bytes.TrimSpace(r.failure)
	if len(text) == 0 && r.refused {
		return r.outOfMemory()
	}
	if len(text) == 0 {
		f := abi.Faultf(abi.ToolError, "the plug-in returned the code %d without an error message", code)
		if r.abortMessage != "" {
			return f.WithHint("see the plug-in's output: %s", r.abortMessage)
		}
		return f.WithHint("check the log; to report an error, call `error_write` or return an error from the handler")
	}
	var report map[string]json.RawMessage
	if text[0] != '{' || json.Unmarshal(text, &report) != nil {
		return abi.Faultf(abi.ToolError, "%s", cut(text, maxMessageBytes))
	}
	f := &abi.Fault{Code: abi.ToolError, Message: cmp.Or(textOf(report["message"], maxMessageBytes), "the plug-in reported an error without a message")}
	if issued := r.issued[textOf(report["id"], maxNameBytes)]; issued != nil {
		copied := *issued
		f = &copied
	}
	f.File, f.Stack = textOf(report["file"], maxNameBytes), textOf(report["stack"], maxMessageBytes)
	f.Line, f.Column = numberOf(report["line"]), numberOf(report["column"])
	return f
}

// textOf returns the value of a field in an error from the guest. If the value is not a string,
// textOf returns "".
func textOf(value json.RawMessage, limit int) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return cut([]byte(text), limit)
}

// numberOf returns the number of a line or a column. If the value is not a positive number,
// numberOf returns 0.
func numberOf(value json.RawMessage) int {
	var number int
	if json.Unmarshal(value, &number) != nil {
		return 0
	}
	return max(number, 0)
}

// The maximum lengths of the texts in an error from the guest.
const (
	maxMessageBytes = 4 << 10
	maxNameBytes    = 256
)
