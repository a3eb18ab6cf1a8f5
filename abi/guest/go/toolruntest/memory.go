//go:build !wasip1

package toolruntest

import (
	"bytes"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
)

// record is the record of a store. The content of a deleted record is nil.
type record struct {
	content  json.RawMessage
	revision int64
}

// options contains the options of all operations. The host accepts ttl but ignores it.
type options struct {
	Record     bool   `json:"record"`
	Replace    bool   `json:"replace"`
	IfRevision *int64 `json:"if_revision"`
	TTL        string `json:"ttl"`
}

// perform performs an operation on the map.
func (h *Host) perform(op string, args []string) ([]byte, *abi.Fault) {
	store := args[0]
	if fault := h.faults[store]; fault != nil {
		return nil, fault
	}
	var o options
	decoder := json.NewDecoder(bytes.NewBufferString(last(op, args)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "%s: invalid options: %v", op, err)
	}
	now := h.stores[store]
	if o.IfRevision != nil && *o.IfRevision != now.shown() {
		return nil, abi.Faultf(abi.Conflict, "%s: the record has a different revision", op)
	}
	switch op {
	case abi.GetContent:
		if o.Record {
			return encode(map[string]any{"content": now.content, "revision": now.shown()})
		}
		return encode(now.content)
	case abi.SetContent:
		return h.set(store, args, o.Replace)
	case abi.DeleteContent:
		h.stores[store] = record{revision: now.revision}
		return encode(map[string]any{"success": true, "deleted": now.content != nil})
	}
	return nil, abi.Faultf(abi.Unavailable, "%s: toolruntest does not implement this operation", op).
		WithHint("test the tool with toolrun run, or make the call fail with Host.Fail")
}

// The function "last" returns the last argument, which contains the options as JSON.
func last(op string, args []string) string {
	operation, _ := abi.Operations().Lookup(op)
	if len(args) < len(operation.Params) || args[len(args)-1] == "" {
		return "{}"
	}
	return args[len(args)-1]
}

// shown returns the revision that a tool sees.
func (r record) shown() int64 {
	if r.content == nil {
		return 0
	}
	return r.revision
}

func (h *Host) set(store string, args []string, replace bool) ([]byte, *abi.Fault) {
	var value, content any
	if len(args) < 2 || decode([]byte(args[1]), &value) != nil || value == nil {
		return nil, abi.Faultf(abi.InvalidArgument, "%s requires a non-null value", abi.SetContent)
	}
	now := h.stores[store]
	if now.content != nil && decode(now.content, &content) != nil {
		return nil, abi.Faultf(abi.Internal, "the content of %s is not JSON", store)
	}
	if !replace {
		value = merge(content, value)
	}
	text, fault := encode(value)
	if fault != nil {
		return nil, fault
	}
	h.stores[store] = record{content: text, revision: now.revision + 1}
	return encode(map[string]any{"success": true, "revision": now.revision + 1})
}

// merge applies a JSON Merge Patch (RFC 7396, section 2).
func merge(target, patch any) any {
	fields, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged, ok := target.(map[string]any)
	if !ok {
		merged = map[string]any{}
	}
	for name, value := range fields {
		if value == nil {
			delete(merged, name)
			continue
		}
		merged[name] = merge(merged[name], value)
	}
	return merged
}

// decode decodes JSON. decode decodes numbers as json.Number, which preserves all digits.
func decode(text []byte, into *any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

func encode(value any) ([]byte, *abi.Fault) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, abi.Faultf(abi.Internal, "encode a reply: %v", err)
	}
	return text, nil
}
