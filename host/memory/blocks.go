package memory

import (
	"context"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/host/storage"
)

// SetAgent sets the agent that is active for the caller of a View, or none if agent is "". Only the host may
// call it.
func SetAgent(v *View, agent string) { v.caller.Agent = agent }

// maxListedBlocks is the maximum number of blocks that ListBlocks returns.
const maxListedBlocks = 1000

// ListBlocks returns the blocks that a View can read: those of the user, those of agents, or both. If
// the caller has an agent, ListBlocks returns only this agent's blocks besides the user's; otherwise, it
// returns the blocks of all agents. The blocks are in the order of their declaration, and those of
// agents follow that of the user. They join the read set. ListBlocks returns at most 1,000 blocks.
func ListBlocks(ctx context.Context, v *View, scope block.Scope) ([]block.Block, error) {
	found := []block.Block{}
	for _, name := range v.s.names {
		p, err := blockPartition(v, name)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		records, err := p.blocks(ctx, scope)
		if err != nil {
			return nil, v.classify(ctx, err, abi.GetBlock, name)
		}
		for _, r := range records {
			b, err := block.Of(r)
			if err != nil {
				return nil, v.classify(ctx, err, abi.GetBlock, name)
			}
			if found = append(found, b); len(found) == maxListedBlocks {
				return found, nil
			}
		}
	}
	return found, nil
}

// blockPartition returns the partition of a block that the View can read. It returns nil if the store
// is not a block, or is not granted.
func blockPartition(v *View, name string) (*storePartition, error) {
	if v.closed != nil {
		return nil, v.closed
	}
	st := v.s.stores[name]
	if st.Kind != declare.KindBlock {
		return nil, nil
	}
	grant, granted := v.authority.grant(name, abi.Read)
	if !granted || v.authority.check(grant, abi.Read) != nil {
		return nil, nil
	}
	key, err := st.key(groupOf(v.s, st, v.caller), v.caller, v.authority.holder())
	if err != nil {
		return nil, withCall(err, abi.GetBlock, name)
	}
	return v.partition(st, st.Access, key), nil
}

// blocks returns the records of a block with a scope.
func (p *storePartition) blocks(ctx context.Context, scope block.Scope) (found []storage.Record, err error) {
	add := func(r storage.Record, err error) error {
		if err == nil && r.Exists() {
			found = append(found, r)
		}
		return err
	}
	if scope != block.ScopeAgent {
		if err := add(p.Get(ctx, "")); err != nil {
			return nil, err
		}
	}
	if scope == block.ScopeUser {
		return found, nil
	}
	if p.view.caller.Agent != "" {
		own, err := p.ForAgent()
		if err != nil {
			return nil, err
		}
		return found, add(own.Get(ctx, ""))
	}
	own, err := p.ownKey()
	if err != nil {
		return nil, err
	}
	records, err := p.view.tx.Scan(ctx, own, own, maxListedBlocks)
	return append(found, records...), err
}

// PeekBlocks returns the blocks with certain uses that an Authority allows to read, all from one snapshot:
// for each declared block, the text of the user, then that of the caller's agent. It omits texts that
// do not exist. Unlike ListBlocks, PeekBlocks adds nothing to the read set: the attempt can commit although
// the blocks have changed. They are among the effects of the attempt.
func PeekBlocks(ctx context.Context, v *View, a Authority, uses ...declare.BlockUse) ([]block.Block, error) {
	keys, err := blockKeys(v, a, uses)
	if err != nil {
		return nil, err
	}
	found, err := v.tx.Peek(ctx, keys...)
	if err != nil {
		return nil, v.classify(ctx, err, abi.GetBlock, "")
	}
	blocks := make([]block.Block, 0, len(found))
	for _, r := range found {
		if !r.Exists() {
			continue
		}
		b, err := block.Of(r)
		if err != nil {
			return nil, v.classify(ctx, err, abi.GetBlock, r.Key.Part(storage.Store))
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// blockKeys returns the keys of the caller's blocks with certain uses that an Authority allows to read.
func blockKeys(v *View, a Authority, uses []declare.BlockUse) (keys []storage.Key, err error) {
	own := v.authority
	v.authority = a
	defer func() { v.authority = own }()
	for _, name := range v.s.names {
		if !slices.Contains(uses, v.s.stores[name].Block.Use) {
			continue
		}
		p, err := blockPartition(v, name)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		keys = append(keys, p.key)
		if v.caller.Agent != "" {
			agents, err := p.ForAgent()
			if err != nil {
				return nil, err
			}
			keys = append(keys, agents.(*storePartition).key)
		}
	}
	return keys, nil
}
