package js

import (
	"bytes"
	"encoding/json"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// encodeOutput encodes the result of the tool. encodeOutput runs guest code. JSON cannot represent
// functions and some numbers. For such a value, encodeOutput writes the same output as
// JSON.stringify and adds a warning. The rest of the result is therefore not lost.
func (r *run) encodeOutput(value goja.Value) (json.RawMessage, error) {
	e := &encoder{realm: &r.realm, bounds: bounds{nesting: r.realm.limits.ValueNesting, bytes: r.realm.limits.OutputBytes, lossy: true}}
	text, refused := e.encode("output", value)
	r.losses = e.losses.warnings("output")
	r.losses = append(r.losses, r.missingInputs()...)
	if refused != nil {
		return nil, r.outputFault("output", refused)
	}
	if text == nil {
		return json.RawMessage("null"), nil
	}
	return text, nil
}

func (r *run) outputFault(name string, refused *encodeError) error {
	if refused.kind == tooLarge {
		return r.outputTooLarge(name)
	}
	return abi.Faultf(abi.OutputInvalid, "the %s cannot be written as JSON: %v", name, refused)
}

func (r *run) outputTooLarge(name string) error {
	return abi.Faultf(abi.OutputLimit, "the %s is larger than %d bytes", name, r.realm.limits.OutputBytes)
}

// contextChanges returns a JSON object with the context keys that the guest added or changed, or
// nil. contextChanges runs guest code.
func (r *run) contextChanges() (json.RawMessage, error) {
	// The encoding of an unchanged context usually equals the original text. In this case, the keys
	// need not be compared.
	same := bounds{nesting: maxParseNesting, bytes: len(r.in.Context)}
	if text, refused := encodeJSON(&r.realm, "context", r.context, same); refused == nil && bytes.Equal(text, r.contextText()) {
		return nil, nil
	}
	before, err := r.contextBefore()
	if err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for _, key := range r.context.Keys() {
		changed, err := r.changedKey(key, before[key])
		if err != nil {
			return nil, err
		}
		if changed == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(appendQuoted(out, key), ':'), changed...)
		if len(out) > r.realm.limits.OutputBytes {
			return nil, r.outputTooLarge("context")
		}
	}
	if len(out) == 1 {
		return nil, nil
	}
	return append(out, '}'), nil
}

func (r *run) contextText() []byte {
	if len(r.in.Context) == 0 {
		return []byte("{}")
	}
	return r.in.Context
}

// contextBefore returns the members of the context that the guest received.
func (r *run) contextBefore() (map[string]goja.Value, error) {
	document, err := parseDocument(&r.realm, "context", r.in.Context)
	if err != nil {
		return nil, err
	}
	object := document.(*goja.Object)
	before := make(map[string]goja.Value)
	for _, key := range object.Keys() {
		before[key] = object.Get(key)
	}
	return before, nil
}

// changedKey returns the encoded value of a key. If the value has not changed, changedKey returns
// nil.
func (r *run) changedKey(key string, before goja.Value) ([]byte, error) {
	// The limits for an output do not apply, because the received context can be larger and nested
	// deeper.
	asRead := bounds{nesting: maxParseNesting, bytes: max(r.realm.limits.OutputBytes, 8*len(r.in.Context))}
	name := pathText("context", []step{{key: key, index: -1}})
	now, refused := encodeJSON(&r.realm, name, r.context.Get(key), asRead)
	if refused != nil {
		return nil, r.outputFault("context", refused)
	}
	was, refused := encodeJSON(&r.realm, name, before, asRead)
	if refused != nil {
		return nil, r.outputFault("context", refused)
	}
	if now == nil || bytes.Equal(now, was) {
		return nil, nil
	}
	if engine.ReservedKey(key) {
		return nil, engine.ReservedKeyFault(name)
	}
	if nestedDeeper(string(now), r.realm.limits.ValueNesting) {
		return nil, r.outputFault("context", &encodeError{where: name, what: "is nested too deep"})
	}
	return now, nil
}
