package memory

import (
	"context"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/host/storage"
)

// SetAgent sets the agent that is active for the caller of a View. If agent is "", no agent is
// active. Only the host may call SetAgent.
func SetAgent(v *View, agent string) { v.caller.Agent = agent }

// The limits of a list of blocks. The blocks of one user never exceed these limits, and neither do
// the blocks of one agent.
const (
	maxListedBlocks = 1000
	maxListedBytes  = 4 << 20 // of stored texts
	// listedPage is the number of texts in one page when the texts of agents are read.
	listedPage = 50
)

// blockList collects the blocks of a list and enforces the limits of the list.
type blockList struct {
	blocks []block.Block
	bytes  int
}

// add adds the block in a record to the list. If the record does not exist, add does nothing. If
// the list becomes too large, add returns a fault.
func (l *blockList) add(r storage.Record) error {
	if !r.Exists() {
		return nil
	}
	l.bytes += len(r.Content)
	if len(l.blocks) == maxListedBlocks || l.bytes > maxListedBytes {
		return abi.Faultf(abi.InvalidArgument, "the list would have more than %d blocks or %d MiB", maxListedBlocks, maxListedBytes>>20).
			WithHint("list the blocks of the user, or the blocks of one agent")
	}
	b, err := block.Of(r)
	l.blocks = append(l.blocks, b)
	return err
}

// ListBlocks returns the blocks that a View can read: the blocks of the user, the blocks of agents,
// or both. If the caller has an active agent, ListBlocks returns the blocks of this agent. If the
// caller has no active agent, ListBlocks returns the blocks of all agents. The blocks are in the
// order of their declaration. For each declared block, the texts of agents follow the text of the
// user. ListBlocks adds the returned blocks to the read set. ListBlocks returns invalid_argument if
// it would return more than 1,000 blocks or 4 MiB of texts.
func ListBlocks(ctx context.Context, v *View, scope block.Scope) ([]block.Block, error) {
	found := &blockList{blocks: []block.Block{}}
	for _, name := range v.s.names {
		p, err := blockPartition(v, name)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		if err := p.listBlocks(ctx, scope, found); err != nil {
			return nil, v.classify(ctx, err, abi.GetBlock, name)
		}
	}
	return found.blocks, nil
}

// blockPartition returns the partition of a block that the View can read. If the store is not a
// block or is not granted, blockPartition returns nil.
func blockPartition(v *View, name string) (*storePartition, error) {
	if v.closed != nil {
		return nil, v.closed
	}
	st := v.s.stores[name]
	if st.Kind != declare.KindBlock {
		return nil, nil
	}
	grant, granted := v.authority.grant(name, abi.Read)
	if !granted || v.authority.check(grant, abi.Read, "block") != nil {
		return nil, nil
	}
	key, err := st.key(groupOf(v.s, st, v.caller), v.caller, v.authority.holder())
	if err != nil {
		return nil, withCall(err, abi.GetBlock, name)
	}
	return v.partition(st, st.Access, key), nil
}

// listBlocks adds the texts of a block to a list. Only the texts of one scope are added.
func (p *storePartition) listBlocks(ctx context.Context, scope block.Scope, list *blockList) error {
	add := func(r storage.Record, err error) error {
		if err != nil {
			return err
		}
		return list.add(r)
	}
	if scope != block.ScopeAgent {
		if err := add(p.Get(ctx, "")); err != nil {
			return err
		}
	}
	if scope == block.ScopeUser {
		return nil
	}
	if p.view.caller.Agent != "" {
		own, err := p.ForAgent()
		if err != nil {
			return err
		}
		return add(own.Get(ctx, ""))
	}
	return p.listAgents(ctx, list)
}

// listAgents adds the texts of all agents to a list.
func (p *storePartition) listAgents(ctx context.Context, list *blockList) error {
	own, err := p.ownKey()
	if err != nil {
		return err
	}
	for after := own; ; {
		records, err := p.view.tx.Scan(ctx, own, after, listedPage)
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := list.add(r); err != nil {
				return err
			}
		}
		if len(records) < listedPage {
			return nil
		}
		after = records[len(records)-1].Key
	}
}

// PeekBlocks returns the blocks whose declared use is one of the given uses. PeekBlocks omits
// blocks whose reads the Authority does not allow. All blocks come from one snapshot. For each
// declared block, PeekBlocks returns the text of the user, and then the text of the active agent of
// the caller. PeekBlocks omits texts that do not exist. Unlike ListBlocks, PeekBlocks does not add
// the blocks to the read set. The attempt can therefore commit even if the blocks have changed. The
// effects of the attempt list the texts that were read.
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

// blockKeys returns the keys of the caller's blocks whose declared use is one of the given uses.
// blockKeys omits blocks whose reads the Authority does not allow.
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
