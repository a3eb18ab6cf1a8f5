package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

// set performs set_content. A merge into a record that is not in the read set is called a blind
// merge. The reply to a blind merge reveals nothing about the stored record. A blind merge cannot
// conflict, because the commit merges into the latest content.
func (st *store) set(ctx context.Context, p kind.Partition, call abi.Call) (json.RawMessage, error) {
	opts, err := parseOptions(call.Arg(2), "replace", "if_revision", "ttl")
	if err != nil {
		return nil, err
	}
	value := call.Arg(1)
	if err := st.writable(value); err != nil {
		return nil, err
	}
	if err := p.CheckWrite(opts.ttl); err != nil {
		return nil, err
	}
	if err := kind.CheckRevision(ctx, p, "", opts.ifRevision); err != nil {
		return nil, err
	}
	if !p.Holds("") {
		value = bytes.Clone(value) // a copy, because the engine owns the value and the commit can use the copy
	}
	expires, err := p.Apply(ctx, "", opts.ttl, st.update(value, opts.replace))
	if err != nil {
		return nil, err
	}
	return kind.WriteReply(ctx, p, "", expires)
}

// writable performs the checks of a value that do not depend on the stored record.
func (st *store) writable(value json.RawMessage) error {
	if kind.IsAbsent(value) {
		return abi.Faultf(abi.InvalidArgument, "the content is missing or null").
			WithHint("use `delete_content` to remove a record")
	}
	if err := st.limits.Check(value); err != nil {
		return err
	}
	if !strictjson.IsObject(value) && !st.anyRoot {
		return abi.Faultf(abi.InvalidArgument, "the content must be an object").
			WithHint("to store other values, declare a schema with another root type")
	}
	return nil
}

// update returns a function that merges a value into a record, or replaces the content of the
// record with the value.
func (st *store) update(value json.RawMessage, replace bool) kind.Update {
	return func(old *storage.Record, locked bool) ([]byte, []abi.Violation, error) {
		within := st
		if locked && st.schema != nil {
			if replace || !old.Exists() {
				return nil, nil, errTooSlow // lockedWork does not bound the work for the defaults of the schema
			}
			within = st.bounded()
		}
		content, violations, err := within.apply(old, value, replace)
		if err != nil {
			return nil, nil, err
		}
		if locked && slices.ContainsFunc(violations, func(v abi.Violation) bool { return v.Keyword == schema.MaxWork }) {
			return nil, nil, errTooSlow
		}
		return content, violations, nil
	}
}

// errTooSlow is the error of an update that takes too long inside the transaction of the backend.
// Other commits wait for this transaction.
var errTooSlow = errors.New("the update took too long in the backend's transaction")

// lockedWork is the maximum number of validation steps of an update inside the transaction of the
// backend.
const lockedWork = 2_000

// The method bounded returns a copy of the store. The validation of the schema of the copy is
// limited to lockedWork steps.
func (st *store) bounded() *store {
	bounded := *st
	bounded.schema = st.schema.Within(lockedWork)
	return &bounded
}

// delete performs delete_content.
func (st *store) delete(ctx context.Context, p kind.Partition, call abi.Call) (json.RawMessage, error) {
	opts, err := parseOptions(call.Arg(1), "if_revision")
	if err != nil {
		return nil, err
	}
	return kind.Remove(ctx, p, "", opts.ifRevision)
}
