package toolrun

import (
	"bytes"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
)

// hostFault decodes a fault of the host and adds the position in the plug-in's source, which the
// host does not know.
func hostFault(op, store string, number int32, reply []byte) error {
	f := new(abi.Fault)
	if err := json.Unmarshal(reply, f); err != nil || f.Code == "" {
		f = &abi.Fault{Code: codeOf(number), Message: "the host gave no reason", Op: op, Store: store}
	}
	f.File, f.Line, f.Stack = here()
	return f
}

// invalidArgument returns an InvalidArgument fault for a call that the binding rejects. The fault
// has no ID, because the binding creates it and not the host.
func invalidArgument(op, store, message string) error {
	f := &abi.Fault{Code: abi.InvalidArgument, Message: message, Op: op, Store: store}
	f.File, f.Line, f.Stack = here()
	return f
}

// codeOf returns the fault code for a negative result of a call.
func codeOf(number int32) abi.Code {
	for _, code := range abi.Codes() {
		if code.Number() == int(-number) {
			return code
		}
	}
	return abi.Internal
}

// encode encodes a value as JSON. Unlike json.Marshal, encode does not escape <, > and &. An escape
// of such a character would take six bytes, which count toward the size limit of an output or a
// content.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
