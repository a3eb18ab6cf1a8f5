package toolrun

import (
	"bytes"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
)

// issued reads a fault that the host gave. Where it met the author's code is added, for the host cannot know.
func issued(op, store string, number int32, reply []byte) error {
	f := new(abi.Fault)
	if err := json.Unmarshal(reply, f); err != nil || f.Code == "" {
		f = &abi.Fault{Code: codeOf(number), Message: "the host did not say why", Op: op, Store: store}
	}
	f.File, f.Line, f.Stack = here()
	return f
}

// refused is the fault of a call that never reached the host, which gave it no id.
func refused(op, store, message string) error {
	f := &abi.Fault{Code: abi.InvalidArgument, Message: message, Op: op, Store: store}
	f.File, f.Line, f.Stack = here()
	return f
}

// codeOf is the code of a negative answer.
func codeOf(number int32) abi.Code {
	for _, code := range abi.Codes() {
		if code.Number() == int(-number) {
			return code
		}
	}
	return abi.Internal
}

// encode writes a value as JSON. Unlike json.Marshal it leaves <, > and & alone, which would take six bytes each
// of what an output or a content may have.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
