package double

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/spell"
)

// envelope contains the members that all requests have in common.
type envelope struct {
	// ID is copied to the reply.
	ID json.RawMessage `json:"id"`
	// Do is the kind of the request.
	Do string `json:"do"`
	// Memory is the name of the memory that the request uses. The name "" refers to the memory that
	// is open at the start.
	Memory string `json:"memory"`
}

// handler executes one kind of request.
type handler func(s *server, ctx context.Context, head envelope, text []byte) (any, error)

// handlers returns the handlers by the kind of the request.
func handlers() map[string]handler {
	return map[string]handler{
		"open":         onServer((*server).open),
		"close":        onServer((*server).closeOne),
		"reset":        onInstance((*instance).reset),
		"tool":         onInstance((*instance).declareTool),
		"clock":        onInstance((*instance).setClock),
		"random":       onInstance((*instance).setRandom),
		"begin":        onInstance((*instance).begin),
		"call":         onInstance((*instance).call),
		"commit":       onInstance((*instance).commit),
		"rollback":     onInstance((*instance).rollback),
		"refuse":       onInstance((*instance).refuse),
		"session":      onInstance((*instance).session),
		"end_session":  onInstance((*instance).endSession),
		"end_workflow": onInstance((*instance).endWorkflow),
		"seed":         onInstance((*instance).seed),
		"dump":         onInstance((*instance).dump),
	}
}

// onServer returns a handler that calls the function "do" with the server and a request of the Go
// type P. The server holds all memories.
func onServer[P any](do func(*server, context.Context, envelope, P) (any, error)) handler {
	return func(s *server, ctx context.Context, head envelope, text []byte) (any, error) {
		var params P
		if err := decode(text, head.Do, &params); err != nil {
			return nil, err
		}
		return do(s, ctx, head, params)
	}
}

// onInstance returns a handler that calls the function "do" with one memory and a request of the Go
// type P.
func onInstance[P any](do func(*instance, context.Context, P) (any, error)) handler {
	return func(s *server, ctx context.Context, head envelope, text []byte) (any, error) {
		i := s.instances[head.Memory]
		if i == nil {
			return nil, abi.Faultf(abi.NotFound, "the memory %q is not open", shortened(head.Memory)).WithHint(`open the memory with {"do":"open"}`)
		}
		var params P
		if err := decode(text, head.Do, &params); err != nil {
			return nil, err
		}
		return do(i, ctx, params)
	}
}

// answer executes a request.
func (s *server) answer(ctx context.Context, l line) reply {
	if l.tooLong {
		return failed(nil, abi.Faultf(abi.TooLarge, "the request exceeds %d bytes", maxLine))
	}
	var head envelope
	if err := json.Unmarshal(l.text, &head); err != nil {
		return failed(nil, malformed(err))
	}
	handle := s.handlers[head.Do]
	if handle == nil {
		return failed(head.ID, unknownRequest(head.Do, slices.Sorted(maps.Keys(s.handlers))))
	}
	result, err := handle(s, ctx, head, l.text)
	if err != nil {
		return failed(head.ID, err)
	}
	return reply{ID: head.ID, OK: true, Result: result}
}

func failed(id json.RawMessage, err error) reply { return reply{ID: id, Error: abi.FaultOf(err)} }

func unknownRequest(name string, known []string) error {
	f := abi.Faultf(abi.InvalidArgument, "unknown request %q", shortened(name))
	if near := spell.Name(name, known); near != "" {
		return f.WithHint("did you mean %q?", near)
	}
	return f.WithHint("use one of: %s", strings.Join(known, ", "))
}

// decode decodes the parameters of a request. decode rejects unknown members.
func decode(text []byte, do string, params any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(params); err != nil {
		if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return abi.Faultf(abi.InvalidArgument, "the request %q does not support the member %s", do, name).
				WithHint("see docs/reference/double.md for the requests")
		}
		return malformed(err)
	}
	return nil
}

// malformed returns the fault of a request with invalid JSON or with a value of a wrong type.
func malformed(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case ok && wrong.Field != "":
		return abi.Faultf(abi.InvalidArgument, "the member %q of the request must not be a JSON %s", wrong.Field, wrong.Value)
	case ok:
		err = fmt.Errorf("got a JSON %s", wrong.Value)
	}
	return abi.Faultf(abi.InvalidArgument, "the request is not a JSON object: %v", err).WithHint(`use a request such as {"do":"clock"}`)
}

// shortened truncates a name for use in a fault.
func shortened(name string) string {
	const maxBytes = 64
	if len(name) <= maxBytes {
		return name
	}
	return strings.ToValidUTF8(name[:maxBytes], "") + "…"
}
