package kindtest

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
)

// ReadGauge is the name of an operation that only gauges have.
const ReadGauge = "read_gauge"

// GaugeStore is the name of the store that contains gauges.
const GaugeStore = "gauges"

// Gauges is a kind of store. The store contains named values, which are called gauges. An app has
// only one store of gauges. Therefore calls from tool code do not contain the name of the store.
// Gauges share the operation "delete_content" with documents. Gauges share the operation "count_up"
// with Counters. A call of "count_up" on a counter contains the name of the store.
type Gauges struct{}

var _ kind.Space = Gauges{}

// Name implements kind.Kind.
func (Gauges) Name() declare.Kind { return "gauge" }

// Space implements kind.Space.
func (Gauges) Space() string { return GaugeStore }

// Operations implements kind.Kind.
func (Gauges) Operations() abi.Table {
	countUp, _ := Counters{}.Operations().Lookup(CountUp)
	countUp.Params = countUp.Params[1:]
	deleteContent, _ := abi.Documents().Lookup(abi.DeleteContent)
	return abi.Table{
		countUp, deleteContent,
		{Name: ReadGauge, Verb: abi.Read, Params: countUp.Params[:1]},
	}
}

// Compile implements kind.Kind.
func (Gauges) Compile(st declare.Store, limits kind.Limits) (kind.Store, error) {
	compiled, err := Counters{}.Compile(st, limits)
	return gauges{compiled}, err
}

// gauges is the compiled store of gauges. Records of gauges have the same format as records of
// counters.
type gauges struct{ kind.Store }

// Call implements kind.Store.
func (gauges) Call(ctx context.Context, p kind.Partition, call abi.Call) (json.RawMessage, error) {
	if call.Op == abi.DeleteContent {
		return deleteAll(ctx, p)
	}
	name, err := nameOf(call.Arg(0))
	if err != nil {
		return nil, err
	}
	if call.Op == CountUp {
		return countUp(ctx, p, name, call.Arg(1))
	}
	r, err := p.Get(ctx, name)
	return reply(decode(r.Content)), err
}

// deleteAll removes all gauges of the partition.
func deleteAll(ctx context.Context, p kind.Partition) (json.RawMessage, error) {
	records, err := p.Scan(ctx, "", 100)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if err := p.Delete(ctx, kind.Item(r)); err != nil {
			return nil, err
		}
	}
	return json.Marshal(map[string]bool{"success": true, "deleted": len(records) > 0})
}
