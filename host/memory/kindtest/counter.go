// Package kindtest contains two kinds of store for tests. They are also examples of how to write a
// kind. In the kind Counters, a partition has many records, and their contents are not JSON. In the
// kind Gauges, operations have no store parameter, and Gauges shares some of its operations with
// other kinds.
package kindtest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/schema"
)

// These constants are the names of the operations on counters.
const (
	CountUp    = "count_up"
	GetCount   = "get_count"
	ListCounts = "list_counts"
	ResetCount = "reset_count"
)

// MaxCount is the maximum value of a counter.
const MaxCount = 1000

// Counters is a kind of store. A store of this kind contains named counters, and each counter has a
// separate record.
type Counters struct{}

var _ kind.Kind = Counters{}

// Name implements kind.Kind.
func (Counters) Name() declare.Kind { return "counter" }

// Operations implements kind.Kind.
func (Counters) Operations() abi.Table {
	store := abi.Param{Name: "store", Kind: abi.StoreName, Required: true}
	name := abi.Param{Name: "name", Kind: abi.JSON, Required: true, Type: abi.Type{Shape: abi.Text}}
	return abi.Table{
		{Name: CountUp, Verb: abi.Write, Params: []abi.Param{store, name, {Name: "by", Kind: abi.JSON, Type: abi.Type{Shape: abi.Integer}}}},
		{Name: GetCount, Verb: abi.Read, Params: []abi.Param{store, name}},
		{Name: ListCounts, Verb: abi.Read, Params: []abi.Param{store}},
		{Name: ResetCount, Verb: abi.Delete, Params: []abi.Param{store, name}},
	}
}

// Compile implements kind.Kind.
func (Counters) Compile(st declare.Store, _ kind.Limits) (kind.Store, error) {
	if st.Schema != nil || st.Strict {
		return nil, errors.New("counters have no schema")
	}
	return counters{}, nil
}

// counters is a store of the kind Counters.
type counters struct{}

// Call implements kind.Store.
func (counters) Call(ctx context.Context, p kind.Partition, call abi.Call) (json.RawMessage, error) {
	if call.Op == ListCounts {
		return list(ctx, p)
	}
	name, err := nameOf(call.Arg(1))
	if err != nil {
		return nil, err
	}
	switch call.Op {
	case CountUp:
		return countUp(ctx, p, name, call.Arg(2))
	case GetCount:
		r, err := p.Get(ctx, name)
		return reply(decode(r.Content)), err
	}
	return json.RawMessage(`{"success":true}`), p.Delete(ctx, name)
}

// nameOf decodes the name of a counter from an argument.
func nameOf(argument json.RawMessage) (string, error) {
	var name string
	if json.Unmarshal(argument, &name) != nil || name == "" {
		return "", abi.Faultf(abi.InvalidArgument, "the name of a counter must be a string")
	}
	return name, nil
}

// countUp adds a number to a counter. countUp is a blind write, so the reply contains no data of
// the stored record.
func countUp(ctx context.Context, p kind.Partition, name string, argument json.RawMessage) (json.RawMessage, error) {
	by := uint64(1)
	if !kind.IsAbsent(argument) && json.Unmarshal(argument, &by) != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the increment of a counter must be a whole number")
	}
	_, err := p.Apply(ctx, name, 0, func(old *storage.Record, _ bool) ([]byte, []abi.Violation, error) {
		n := decode(old.Content) + by
		if n > MaxCount {
			f := abi.Faultf(abi.TooLarge, "the maximum of the counter is %d", MaxCount)
			f.Item = name
			return nil, nil, f
		}
		return binary.AppendUvarint(nil, n), nil, nil
	})
	return json.RawMessage(`{"success":true}`), err
}

// list returns the values of all counters by name.
func list(ctx context.Context, p kind.Partition) (json.RawMessage, error) {
	counts := map[string]uint64{}
	for after := ""; ; {
		records, err := p.Scan(ctx, after, 2)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			after = kind.Item(r)
			counts[after] = decode(r.Content)
		}
		if len(records) < 2 {
			return json.Marshal(counts)
		}
	}
}

func decode(content []byte) uint64 {
	n, _ := binary.Uvarint(content)
	return n
}

func reply(n uint64) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"count":%d}`, n)) }

// Fits implements kind.Store.
func (counters) Fits(r storage.Record) bool { return decode(r.Content) <= MaxCount }

// Show implements kind.Store.
func (counters) Show(content []byte) json.RawMessage { return reply(decode(content)) }

// Public implements kind.Store. Counters have no violations.
func (counters) Public(string) string { return "" }

// Mistakes implements kind.Store.
func (counters) Mistakes() schema.Errors { return nil }
