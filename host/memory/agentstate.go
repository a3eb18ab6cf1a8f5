package memory

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
)

// MaxAgentState is the maximum size of the state of an agent. Other records have a smaller maximum
// size. The state of an agent can be larger, because a variable can contain the output of a tool.
const MaxAgentState = 2 << 20

// AgentState returns the JSON text of the state of an agent. If no state is stored, AgentState
// returns nil. The argument "item" is the name of the record in the store declare.Agents; package
// variables defines these names. AgentState adds the record to the read set. Only the host may call
// AgentState, because AgentState does not check the View's Authority.
func (v *View) AgentState(ctx context.Context, item string) (json.RawMessage, error) {
	p, err := v.agentPartition(item)
	if err != nil {
		return nil, err
	}
	r, err := p.Get(ctx, item)
	if err != nil {
		return nil, v.classify(ctx, err, "", declare.Agents)
	}
	return r.Content, nil
}

// SetAgentState stores the state of an agent. The state must be JSON. A state that belongs to a
// user expires after declare.KeptFor. A state that belongs to a session is removed when the session
// ends. If the state is nil, SetAgentState removes the record. Only the host may call
// SetAgentState, because SetAgentState does not check the View's Authority.
func (v *View) SetAgentState(ctx context.Context, item string, state json.RawMessage) error {
	p, err := v.agentPartition(item)
	if err != nil {
		return err
	}
	if len(state) > MaxAgentState {
		return abi.Faultf(abi.TooLarge, "the variables of an agent have %d bytes of JSON; the limit is %d", len(state), MaxAgentState).
			WithHint("store less in session variables")
	}
	if state == nil {
		err = p.Delete(ctx, item)
	} else {
		err = p.setState(ctx, item, state)
	}
	if err != nil {
		return v.classify(ctx, err, "", declare.Agents)
	}
	return nil
}

func (p *storePartition) setState(ctx context.Context, item string, state json.RawMessage) error {
	ttl := time.Duration(0)
	if p.scope == declare.ScopeUser {
		ttl = declare.KeptFor
	}
	_, err := p.Apply(ctx, item, ttl, func(*storage.Record, bool) ([]byte, []abi.Violation, error) { return state, nil, nil })
	return err
}

// agentPartition returns the partition that contains an item of the store declare.Agents. Package
// variables defines the names of the items.
func (v *View) agentPartition(item string) (*storePartition, error) {
	st := v.s.stores[declare.Agents]
	switch {
	case v.closed != nil:
		return nil, v.closed
	case st == nil:
		return nil, abi.Faultf(abi.NotFound, "the app has no agents")
	}
	return routedPartition{v, st, abi.Write}.within(st.scopeOfItem(item), "the state of an agent")
}

// Fact returns the stored value of a fact. If no value is stored, Fact returns nil and not the
// declared default. Fact adds the record to the read set. Fact uses the rights of the Authority a.
func (v *View) Fact(ctx context.Context, a Authority, path string) (json.RawMessage, error) {
	p, err := v.factPartition(a, path)
	if err != nil {
		return nil, withItem(err, path)
	}
	r, err := p.Get(ctx, path)
	if err != nil {
		return nil, v.classify(ctx, err, abi.GetFact, declare.Facts)
	}
	return r.Content, nil
}

// PeekFacts returns the stored values of facts. All values come from one snapshot. The values are
// in the order of the argument "paths". If no value is stored for a fact, or if the Authority a
// does not allow reading the fact, the value is nil. Unlike Fact, PeekFacts does not add the
// records to the read set. The attempt can therefore commit even if the values have changed. The
// effects of the attempt list the facts that were read.
func (v *View) PeekFacts(ctx context.Context, a Authority, paths []string) ([]json.RawMessage, error) {
	values := make([]json.RawMessage, len(paths))
	keys, at := make([]storage.Key, 0, len(paths)), make([]int, 0, len(paths))
	for i, path := range paths {
		p, err := v.factPartition(a, path)
		if v.closed != nil {
			return nil, v.closed
		}
		if err == nil {
			keys, at = append(keys, p.recordKey(path)), append(at, i)
		}
	}
	found, err := v.tx.Peek(ctx, keys...)
	if err != nil {
		return nil, v.classify(ctx, err, abi.GetFact, declare.Facts)
	}
	for i, r := range found {
		values[at[i]] = r.Content
	}
	return values, nil
}

// factPartition returns the partition of a fact. If the Authority a does not allow reading the
// fact, factPartition returns an error.
func (v *View) factPartition(a Authority, path string) (*storePartition, error) {
	if v.closed != nil {
		return nil, v.closed
	}
	own := v.authority
	v.authority = a
	defer func() { v.authority = own }()
	st := v.s.stores[declare.Facts]
	if st == nil {
		return nil, v.noStore("store", declare.Facts)
	}
	return routedPartition{v, st, abi.Read}.at(path)
}

// withItem returns a copy of a fault. In the copy, the item is the path of a fact.
func withItem(err error, path string) error {
	f, ok := withCall(err, abi.GetFact, declare.Facts).(*abi.Fault)
	if !ok {
		return err
	}
	f.Item = kind.Shorten(path)
	return f
}
