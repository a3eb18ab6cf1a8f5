package document

import (
	"encoding/json"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/mergepatch"
)

// apply applies a value to a record and returns the resulting content. If the store is not strict,
// the method also returns the violations of the schema. The method is a pure function. apply
// returns encoded JSON, because a decoded content can use forty times as much memory as the encoded
// content.
func (st *store) apply(old *storage.Record, value json.RawMessage, replace bool) (json.RawMessage, []abi.Violation, error) {
	before, err := contentOf(old)
	if err != nil {
		return nil, nil, err
	}
	content, err := kind.Decode(value)
	if err != nil {
		return nil, nil, err
	}
	if !replace {
		content = mergepatch.Apply(before, content)
	}
	var violations []abi.Violation
	if st.schema != nil {
		if replace || !old.Exists() {
			content = st.schema.Defaults(content)
		}
		violations = st.violations(content, before, old.Exists())
		if st.decl.Strict && len(violations) > 0 {
			return nil, nil, st.refusal(violations)
		}
	}
	text, err := st.limits.Encode(content)
	return text, violations, err
}

// contentOf decodes the content of a record. If the record does not exist, the result is an empty
// object.
func contentOf(r *storage.Record) (any, error) {
	if !r.Exists() {
		return map[string]any{}, nil
	}
	return kind.Decode(r.Content)
}

// violations returns the violations of a content. violations marks each violation that the previous
// content already had.
func (st *store) violations(content, before any, existed bool) []abi.Violation {
	found := st.schema.Validate(content)
	if len(found) > 0 && existed {
		st.markExisting(found, before)
	}
	return found
}

// markExisting marks the violations that the previous content already had.
func (st *store) markExisting(found []abi.Violation, before any) {
	type location struct{ pointer, keyword string }
	had := map[location]bool{}
	for _, v := range st.schema.Validate(before) {
		had[location{v.Pointer, v.Keyword}] = true
	}
	for i, v := range found {
		found[i].Existing = had[location{v.Pointer, v.Keyword}]
	}
}

func (st *store) refusal(violations []abi.Violation) error {
	f := abi.Faultf(abi.SchemaViolation, "the content does not match the schema of %q: %s", st.decl.Name, abi.Summary(violations))
	f.Violations = violations
	if slices.ContainsFunc(violations, func(v abi.Violation) bool { return v.Existing }) {
		return f.WithHint("the record violated the schema before this write: correct the other fields too, or replace the whole content")
	}
	return f
}
