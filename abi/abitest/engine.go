package abitest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/conformance"
	"github.com/toolrun/toolrun/host/engine"
)

// Runner is a function that runs the plug-in of a vector once and returns the effects of the run.
// During the run, the Double replaces the host's memory.
type Runner func(ctx context.Context, plugin []byte, v Vector) (Effect, error)

// Host checks that a host runs every vector with the expected effects.
func Host(t *testing.T, run Runner) {
	for _, v := range Vectors() {
		t.Run(v.Name, func(t *testing.T) {
			got, err := run(t.Context(), v.Module(), v)
			if err != nil {
				t.Fatal(err)
			}
			want := v.Want
			if want.Output == "" && want.Code == "" {
				want.Output = "null"
			}
			message := got.Message
			got.Message, want.Message = "", ""
			if g, w := show(t, got), show(t, want); g != w {
				t.Errorf("effect = %s %q\nwant %s", g, message, w)
			}
			if !strings.Contains(message, v.Want.Message) {
				t.Errorf("message = %q; want %q in it", message, v.Want.Message)
			}
		})
	}
}

func show(t *testing.T, e Effect) string {
	t.Helper()
	for i := range e.Calls {
		for j, arg := range e.Calls[i].Args {
			if len(arg) == 0 {
				e.Calls[i].Args[j] = json.RawMessage("null")
			}
		}
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Engine returns a Runner that runs plug-ins on the engine e.
func Engine(e engine.Engine) Runner {
	return func(ctx context.Context, plugin []byte, v Vector) (Effect, error) {
		program, err := e.Load(ctx, engine.Source{Path: "plugin.wasm", Code: plugin})
		if err != nil {
			return Effect{}, err
		}
		defer func() { _ = program.Close() }()
		var seen Effect
		in := engine.Input{Input: json.RawMessage(v.Input), Context: json.RawMessage(v.Context), Limits: engine.Limits{OutputBytes: v.OutputBytes}}
		out, err := program.Run(ctx, in, seen.host())
		seen.Output, seen.Context = string(out.Output), string(out.Context)
		if f, ok := errors.AsType[*abi.Fault](err); ok {
			seen.Output, seen.Code, seen.Message = "", f.Code, f.Message
			return seen, nil
		}
		return seen, err
	}
}

// host returns an engine.Host that records memory calls and log lines in e. The Double answers the
// memory calls of the guest.
func (e *Effect) host() engine.Host {
	memory := &conformance.Double{Operations: abi.Operations()}
	return engine.Host{
		Call: func(_ context.Context, call abi.Call) (json.RawMessage, error) {
			e.Calls = append(e.Calls, call)
			reply, fault := memory.Call(call)
			if fault != nil {
				return nil, fault
			}
			return reply, nil
		},
		Log: func(level abi.Level, text string) error {
			e.Logs = append(e.Logs, string(level)+" "+text)
			return nil
		},
	}
}
