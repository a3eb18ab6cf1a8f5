package toolrun

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
)

// Call performs the operation of the ABI with the given name and returns the reply unchanged. The
// arguments are in the order of the operation's parameters. A nil element of args is an absent
// argument. A plug-in that uses Call imports every operation of the binding, so it runs only on
// hosts that provide all operations. Every other function imports only the operation that it uses.
func Call(op, store string, args ...any) (json.RawMessage, error) {
	texts, err := textsOf(op, append([]any{storeName(store)}, args...))
	if err != nil {
		return nil, err
	}
	reply, number, known := imports.Call(op, texts)
	switch {
	case !known:
		return nil, invalidArgument(op, store, fmt.Sprintf("the operation %q with %d arguments does not exist", op, len(texts)))
	case number < 0:
		return nil, hostFault(op, store, number, reply)
	}
	return reply, nil
}

// storeName is the name of a store. The binding passes a storeName to the host as plain text, not
// as JSON.
type storeName string

// operation is a function of package imports.
type operation = func(args []string) (reply []byte, number int32)

// perform performs an operation. A nil argument of an operation is absent.
func perform(do operation, op string, args ...any) (json.RawMessage, error) {
	texts, err := textsOf(op, args)
	if err != nil {
		return nil, err
	}
	reply, number := do(texts)
	if number < 0 {
		return nil, hostFault(op, storeOf(args), number, reply)
	}
	return reply, nil
}

// textsOf encodes arguments for the host.
func textsOf(op string, args []any) ([]string, error) {
	texts := make([]string, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case nil:
		case storeName:
			texts[i] = string(arg)
		default:
			text, err := encode(arg)
			if err != nil {
				return nil, invalidArgument(op, storeOf(args), fmt.Sprintf("%s: cannot encode argument %d as JSON: %v", op, i+1, err))
			}
			texts[i] = string(text)
		}
	}
	return texts, nil
}

// storeOf returns the storeName in args, or "" if args contains no storeName.
func storeOf(args []any) string {
	for _, arg := range args {
		if store, ok := arg.(storeName); ok {
			return string(store)
		}
	}
	return ""
}

// decode decodes a reply. decode returns false if the reply is null. The argument "what" names the
// source of the reply in error messages.
func decode(what string, reply []byte, into any) (bool, error) {
	if len(reply) == 0 || bytes.Equal(reply, []byte("null")) {
		return false, nil
	}
	if err := json.Unmarshal(reply, into); err != nil {
		return true, fmt.Errorf("read %s: %w", what, err)
	}
	return true, nil
}
