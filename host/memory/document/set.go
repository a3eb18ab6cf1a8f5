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

// set performs set_content. A merge is blind if the record is not in the read set. The reply to a
// blind merge reveals nothing about the stored record. A blind merge cannot conflict, because the
// commit merges into the current content.
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
		value = bytes.Clone(value) // the engine owns the value
	}
	expires, err := p.Apply(ctx, "", opts.ttl, st.update(value, opts.replace))
	if err != nil {
		return nil, err
	}
	return kind.WriteReply(ctx, p, "", expires)
}

// writable performs those checks of a value that do not depend on the stored record.
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

// update returns a kind.Update that merges a value into a record, or replaces the content of the
// record with the value.
func (st *store) update(value json.RawMessage, replace bool) kind.Update {
	return func(old *storage.Record, locked bool) ([]byte, []abi.Violation, error) {
		within := st
		if locked && st.schema != nil {
			if replace || !old.Exists() {
				return nil, nil, errTooSlow // adding the defaults could exceed lockedWork
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

// errTooSlow is the error of an update that performs too much work inside of the backend's
// transaction. Other commits wait until this transaction ends.
var errTooSlow = errors.New("the update took too long in the backend's transaction")

// lockedWork limits an update inside of the backend's transaction. lockedWork is the maximum number
// of validation steps.
const lockedWork = 2_000

// bounded returns a copy of the store. The copy performs at most lockedWork steps to validate a
// content against the schema.
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
