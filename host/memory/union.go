package memory

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
)

// callUnion performs an operation on several stores: all stores of the kind that the View can use
// with the operation.
func callUnion(ctx context.Context, v *View, op operation, call abi.Call) (json.RawMessage, error) {
	if v.s == nil {
		return nil, withCall(v.noStore("store", ""), call.Op, "")
	}
	members, err := membersOf(v, op)
	if err != nil {
		return nil, withCall(err, call.Op, "")
	}
	reply, err := v.s.kinds.byName[op.space].(kind.Union).CallAll(ctx, members, call)
	if err != nil {
		return nil, v.classify(ctx, err, call.Op, "")
	}
	return reply, nil
}

// membersOf returns the stores that the View can use with an operation. The stores have the kind of
// the operation and the order of their declaration. If the View cannot use any granted store,
// membersOf returns the first fault.
func membersOf(v *View, op operation) (members []kind.Member, fault error) {
	for _, name := range v.s.names {
		if v.s.stores[name].Kind != op.space {
			continue
		}
		p, err := v.open(op, name)
		if err == nil {
			members = append(members, kind.Member{Name: name, Store: p.store.compiled, Partition: p})
		} else if fault == nil && !errors.Is(err, abi.NotFound) {
			fault = err
		}
	}
	if len(members) > 0 {
		return members, nil
	}
	return nil, fault
}
