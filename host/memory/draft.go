package memory

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// write is one thing that an attempt did to a record.
type write struct {
	// remove deletes the record; replace puts value as it is; otherwise value is merged.
	remove  bool
	replace bool
	value   json.RawMessage
	ttl     time.Duration
}

// draft is the state of a record within an attempt. Drafts are values: applying a write makes a new one. They hold
// texts, since a tree may take forty times as much memory, and an attempt holds many drafts at a time.
type draft struct {
	exists bool
	bytes  json.RawMessage // nil where it does not exist
	// violations of a store that is not strict.
	violations []abi.Violation
}

func draftOf(r storage.Record) draft {
	return draft{exists: r.Exists(), bytes: r.Content}
}

// content returns the content as a value; an empty object where there is none.
func (d draft) content() (any, error) {
	if !d.exists {
		return map[string]any{}, nil
	}
	return decodeChecked(d.bytes)
}

// apply returns what a write makes of a draft. It is a pure function of its arguments: a commit calls it
// again on the latest content.
func (s *Service) apply(st *store, d draft, w write) (draft, error) {
	if w.remove {
		return draft{}, nil
	}
	before, err := d.content()
	if err != nil {
		return draft{}, err
	}
	content, err := decodeChecked(w.value)
	if err != nil {
		return draft{}, err
	}
	if !w.replace {
		content = merge(before, content)
	}
	next := draft{exists: true}
	if st.schema != nil {
		if w.replace || !d.exists {
			content = st.schema.Defaults(content)
		}
		next.violations = st.violations(content, before, d.exists)
		if st.Strict && len(next.violations) > 0 {
			return draft{}, refusal(st, next.violations)
		}
	}
	next.bytes, err = s.encode(content)
	return next, err
}

// violations are those of a content, marked where the content before had them already.
func (st *store) violations(content, before any, existed bool) []abi.Violation {
	found := st.schema.Validate(content)
	if len(found) > 0 && existed {
		st.markExisting(found, before)
	}
	return found
}

// markExisting marks the violations that are also among those of the content before.
func (st *store) markExisting(found []abi.Violation, before any) {
	type place struct{ pointer, keyword string }
	had := map[place]bool{}
	for _, v := range st.schema.Validate(before) {
		had[place{v.Pointer, v.Keyword}] = true
	}
	for i, v := range found {
		found[i].Existing = had[place{v.Pointer, v.Keyword}]
	}
}

func refusal(st *store, violations []abi.Violation) error {
	f := abi.Faultf(abi.SchemaViolation, "the content does not fit the schema of %q: %s", st.Name, abi.Summary(violations))
	f.Violations = violations
	if slices.ContainsFunc(violations, func(v abi.Violation) bool { return v.Existing }) {
		return f.WithHint("what is marked as existing was in the stored content before: set that field too, or replace the content as a whole")
	}
	return f
}

// encode returns the text of a content that is to be kept, if it is within the limits.
func (s *Service) encode(content any) (json.RawMessage, error) {
	text, err := strictjson.Encode(content)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(text), s.checkValue(text) // cut to its size: what it was encoded in had room for more
}
