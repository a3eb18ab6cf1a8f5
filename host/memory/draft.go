package memory

import (
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/jsondoc"
)

// write is one thing that an attempt did to a record.
type write struct {
	// remove deletes the record; replace puts value as it is; otherwise value is merged.
	remove  bool
	replace bool
	value   any
	ttl     time.Duration
}

// draft is the state of a record within an attempt. Drafts are values: applying a write makes a new one, and
// no tree that a draft holds is ever changed.
type draft struct {
	exists bool
	// fresh is true where the record, as it now is, began its life in this attempt.
	fresh bool
	bytes json.RawMessage
	tree  any
	ttl   time.Duration
	// violations of a store that is not strict.
	violations []abi.Violation
}

func draftOf(r storage.Record) draft {
	return draft{exists: r.Exists(), bytes: r.Content}
}

func (d *draft) text() (json.RawMessage, error) {
	if d.bytes == nil {
		encoded, err := jsondoc.Encode(d.tree)
		if err != nil {
			return nil, err
		}
		d.bytes = encoded
	}
	return d.bytes, nil
}

func (d *draft) value() (any, error) {
	if d.tree == nil && d.exists {
		// What is stored was checked when it was written, perhaps under wider limits than today's.
		tree, err := jsondoc.Decode(d.bytes, jsondoc.Limits{})
		if err != nil {
			return nil, err
		}
		d.tree = tree
	}
	return d.tree, nil
}

// apply returns what a write makes of a draft. It is a pure function of its arguments: a commit calls it
// again on the latest content.
func (s *Service) apply(st *store, d draft, w write) (draft, error) {
	if w.remove {
		return draft{}, nil
	}
	before, err := d.value()
	if err != nil {
		return draft{}, err
	}
	next := draft{exists: true, fresh: d.fresh || !d.exists, ttl: w.ttl}
	next.tree = w.value
	if !w.replace {
		var target any = map[string]any{}
		if d.exists {
			target = before
		}
		next.tree = merge(target, w.value)
	}
	if st.schema != nil {
		if w.replace || !d.exists {
			next.tree = st.schema.Defaults(next.tree)
		}
		next.violations = st.violations(next.tree, before, d.exists)
		if st.Strict && len(next.violations) > 0 {
			return draft{}, refusal(st, next.violations)
		}
	}
	return next, s.checkSize(&next)
}

// violations are those of a content, marked where the content before had them already.
func (st *store) violations(content, before any, existed bool) []abi.Violation {
	found := st.schema.Validate(content)
	if len(found) == 0 || !existed {
		return found
	}
	type place struct{ pointer, keyword string }
	had := map[place]bool{}
	for _, v := range st.schema.Validate(before) {
		had[place{v.Pointer, v.Keyword}] = true
	}
	for i, v := range found {
		found[i].Existing = had[place{v.Pointer, v.Keyword}]
	}
	return found
}

func refusal(st *store, violations []abi.Violation) error {
	f := abi.Faultf(abi.SchemaViolation, "the content does not fit the schema of %q: %s", st.Name, abi.Summary(violations))
	f.Violations = violations
	return f
}

// checkSize bounds the encoded content.
func (s *Service) checkSize(d *draft) error {
	text, err := d.text()
	if err != nil {
		return err
	}
	if len(text) > s.limits.RecordBytes {
		return s.tooLarge(len(text))
	}
	if err := jsondoc.Check(text, s.docLimits()); err != nil {
		return s.badDocument(err)
	}
	return nil
}
