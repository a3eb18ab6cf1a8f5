package toolrun

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
)

// Call performs an operation of the ABI by its name and returns its reply as it is. The arguments are in the order of the
// operation's parameters; nil is an absent one. A plug-in that uses Call imports every operation that the binding has,
// and only runs on hosts that have them all; the other functions import one each.
func Call(op, store string, args ...any) (json.RawMessage, error) {
	texts, err := textsOf(op, append([]any{storeName(store)}, args...))
	if err != nil {
		return nil, err
	}
	reply, number, known := imports.Call(op, texts)
	switch {
	case !known:
		return nil, refused(op, store, fmt.Sprintf("there is no operation %q of %d arguments", op, len(texts)))
	case number < 0:
		return nil, issued(op, store, number, reply)
	}
	return reply, nil
}

// storeName is the name of a store, which goes to the host as it is and not as JSON.
type storeName string

// operation is a function of package imports.
type operation = func(args []string) (reply []byte, number int32)

// perform performs an operation. An argument that is nil is absent.
func perform(do operation, op string, args ...any) (json.RawMessage, error) {
	texts, err := textsOf(op, args)
	if err != nil {
		return nil, err
	}
	reply, number := do(texts)
	if number < 0 {
		return nil, issued(op, storeOf(args), number, reply)
	}
	return reply, nil
}

// textsOf writes arguments as they go to the host.
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
				return nil, refused(op, storeOf(args), fmt.Sprintf("%s: argument %d cannot be JSON: %v", op, i+1, err))
			}
			texts[i] = string(text)
		}
	}
	return texts, nil
}

// storeOf returns the store that the arguments name, "" if there is none.
func storeOf(args []any) string {
	for _, arg := range args {
		if store, ok := arg.(storeName); ok {
			return string(store)
		}
	}
	return ""
}

// decode reads a reply of what; it returns false if that is null.
func decode(what string, reply []byte, into any) (bool, error) {
	if len(reply) == 0 || bytes.Equal(reply, []byte("null")) {
		return false, nil
	}
	if err := json.Unmarshal(reply, into); err != nil {
		return true, fmt.Errorf("read %s: %w", what, err)
	}
	return true, nil
}
