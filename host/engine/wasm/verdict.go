package wasm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// conclude says what came of the run, given what the entry answered or what ended it.
func (r *run) conclude(answered uint64, ended error) (engine.Output, error) {
	out := engine.Output{MemoryBytes: r.used}
	if err := r.flush(); err != nil && r.halted == nil {
		r.halted = err
	}
	code := int32(uint32(answered))
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
	if out.Output, err = r.answer(); err != nil {
		return out, err
	}
	if len(r.failure) > 0 {
		out.Warnings = append(out.Warnings, "the plug-in wrote an error and then ended as a success: "+cut(r.failure, maxNameBytes))
	}
	out.Context, err = r.contextChanges()
	return out, err
}

// flush hands over what was printed last, and what was logged by an instance that never began. It returns what
// ended the run from outside, if anything did.
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

// stopped is what a run ends with that something in its system stopped.
func (r *run) stopped(err error) error {
	if r.ctx.Err() != nil && (errors.Is(err, r.ctx.Err()) || errors.Is(err, context.Cause(r.ctx))) {
		return engine.EndOf(r.ctx)
	}
	return err
}

// answer is the output that the guest wrote.
func (r *run) answer() (json.RawMessage, error) {
	if r.output == nil {
		return json.RawMessage("null"), nil
	}
	if err := r.check("output", r.output); err != nil {
		return nil, err
	}
	return r.output, nil
}

// check refuses what the guest wrote where it is no JSON.
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
	return abi.Faultf(abi.OutputInvalid, "the %s is no JSON: %s: %v", name, where, err)
}

// contextChanges is the object that the guest wrote as its context, nil for none.
func (r *run) contextChanges() (json.RawMessage, error) {
	if r.changes == nil {
		return nil, nil
	}
	if err := r.check("context", r.changes); err != nil {
		return nil, err
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(r.changes, &keys) != nil || keys == nil {
		return nil, abi.Faultf(abi.OutputInvalid, "the context is to be a JSON object")
	}
	for key := range keys {
		if engine.OfWorkflow(key) {
			return nil, engine.WorkflowFault("context." + key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return r.changes, nil
}

// failed is the fault of an entry that answered other than 0.
func (r *run) failed(code int32) error {
	if r.tooLarge {
		return abi.Faultf(abi.OutputLimit, "the output or the context is larger than %d bytes", r.limits.OutputBytes)
	}
	text := bytes.TrimSpace(r.failure)
	if len(text) == 0 && r.refused {
		return r.outOfMemory()
	}
	if len(text) == 0 {
		f := abi.Faultf(abi.ToolError, "the plug-in ended with code %d and did not say why", code)
		if r.lastWords != "" {
			return f.WithHint("it printed: %s", r.lastWords)
		}
		return f.WithHint("what it logged may say why; error_write, or an error that the handler returns, is where to say it")
	}
	var told map[string]json.RawMessage
	if text[0] != '{' || json.Unmarshal(text, &told) != nil {
		return abi.Faultf(abi.ToolError, "%s", cut(text, maxMessageBytes))
	}
	f := &abi.Fault{Code: abi.ToolError, Message: orElse(textOf(told["message"], maxMessageBytes), "the plug-in gave an error without a message")}
	if issued := r.issued[textOf(told["id"], maxNameBytes)]; issued != nil {
		copied := *issued
		f = &copied
	}
	f.File, f.Stack = textOf(told["file"], maxNameBytes), textOf(told["stack"], maxMessageBytes)
	f.Line, f.Column = numberOf(told["line"]), numberOf(told["column"])
	return f
}

// textOf is a string of a guest's error, "" where it is none.
func textOf(value json.RawMessage, limit int) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return cut([]byte(text), limit)
}

// numberOf is a line or a column, 0 where it is none.
func numberOf(value json.RawMessage) int {
	var number int
	if json.Unmarshal(value, &number) != nil {
		return 0
	}
	return max(number, 0)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// What the parts of a guest's error may say.
const (
	maxMessageBytes = 4 << 10
	maxNameBytes    = 256
)
