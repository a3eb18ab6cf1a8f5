package host

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/block"
)

// Blocks is a handle for the blocks of users. The blocks belong to Caller.User, and the blocks of
// an agent also belong to Caller.Agent. By default, a Blocks handle is meant for operators and
// users, so the handle ignores the grants of tools. Blocks is safe for concurrent use.
type Blocks struct {
	h         *Host
	authority memory.Authority
}

// Blocks returns a handle for the blocks of the app's users, with all rights.
func (h *Host) Blocks() Blocks { return Blocks{h, memory.Operator()} }

// With returns a handle whose rights are those of the given Authority.
func (b Blocks) With(a memory.Authority) Blocks { return Blocks{b.h, a} }

// Declared returns the declared blocks in the order of the app file. The result is empty if the app
// has no blocks.
func (b Blocks) Declared() []declare.Block {
	var all []declare.Block
	for _, st := range b.h.memory.Stores() {
		if st.Kind == declare.KindBlock {
			all = append(all, st.Block)
		}
	}
	return all
}

// List returns the blocks of the caller's user that exist and have the given scope. The default
// scope is block.ScopeUser. If the caller has an agent, List returns no blocks of other agents. If
// the caller has no agent, List returns the blocks of all agents. If there are more than 1,000
// blocks, or if their texts exceed 4 MiB, List returns the fault invalid_argument. If the app has
// no blocks, the error is abi.NotFound.
func (b Blocks) List(ctx context.Context, caller Caller, scope block.Scope) ([]block.Block, error) {
	if err := b.requireBlocks(); err != nil {
		return nil, err
	}
	switch scope {
	case "":
		scope = block.ScopeUser
	case block.ScopeUser, block.ScopeAgent, block.ScopeAll:
	default:
		return nil, abi.Faultf(abi.InvalidArgument, "the scope of the blocks must not be %q", scope).WithHint("use the scope \"user\", \"agent\" or \"all\"")
	}
	var found []block.Block
	err := b.perform(ctx, caller, true, func(ctx context.Context, v *memory.View) (err error) {
		found, err = memory.ListBlocks(ctx, v, scope)
		return err
	})
	return found, err
}

// Get returns a block. If the app declares the block but the block does not exist, Get returns nil.
// If the argument "agent" is true, Get returns the block of the caller's agent. If the app does not
// declare the block, the error is abi.NotFound.
func (b Blocks) Get(ctx context.Context, caller Caller, name string, agent bool) (*block.Block, error) {
	if err := b.findOwn(name); err != nil {
		return nil, err
	}
	var found *block.Block
	err := b.perform(ctx, caller, true, func(ctx context.Context, v *memory.View) (err error) {
		found, err = getBlock(ctx, v, name, agent)
		return err
	})
	return found, err
}

// BlockUpdate is a request to replace or delete a block.
type BlockUpdate struct {
	// Name is the name of the block.
	Name string
	// If Agent is true, the request changes the block of the caller's agent. If Agent is false, the
	// request changes the block of the user.
	Agent bool
	// Content is the new text. Delete ignores it.
	Content string
	// Expected is the version of the block that the change replaces. The zero value of Expected
	// means that the block must not exist.
	Expected block.Expected
}

// Update replaces the text of a block and returns the stored block. If the block does not have the
// expected version, Update returns the fault conflict. If the text exceeds a limit of the block,
// Update returns the fault too_large. After one of these faults, the block is unchanged.
func (b Blocks) Update(ctx context.Context, caller Caller, u BlockUpdate) (*block.Block, error) {
	if err := b.findOwn(u.Name); err != nil {
		return nil, err
	}
	var stored *block.Block
	err := b.perform(ctx, caller, false, func(ctx context.Context, v *memory.View) error {
		options, err := u.options(ctx, v)
		if err != nil {
			return err
		}
		content, err := json.Marshal(u.Content)
		if err != nil {
			return err
		}
		if _, err := v.Call(ctx, abi.Call{Op: abi.UpdateBlock, Args: []json.RawMessage{quoted(u.Name), content, options}}); err != nil {
			return err
		}
		stored, err = getBlock(ctx, v, u.Name, u.Agent)
		return err
	})
	return stored, err
}

// Delete deletes a block and reports whether the block existed. If the block does not have the
// expected version, Delete returns the fault conflict.
func (b Blocks) Delete(ctx context.Context, caller Caller, u BlockUpdate) (deleted bool, err error) {
	if err := b.findOwn(u.Name); err != nil {
		return false, err
	}
	err = b.perform(ctx, caller, false, func(ctx context.Context, v *memory.View) error {
		options, err := u.options(ctx, v)
		if err != nil {
			return err
		}
		reply, err := v.Call(ctx, abi.Call{Op: abi.DeleteBlock, Args: []json.RawMessage{quoted(u.Name), options}})
		if err != nil {
			return err
		}
		var answer struct{ Deleted bool }
		err = json.Unmarshal(reply, &answer)
		deleted = answer.Deleted
		return err
	})
	return deleted, err
}

// options returns the options of an operation on a block, as JSON. options reads the block if the
// change accepts any existing version. options also reads the block if the change contains both the
// time and the revision of the expected version.
func (u BlockUpdate) options(ctx context.Context, v *memory.View) (json.RawMessage, error) {
	options := struct {
		Expected string `json:"expected_updated_at,omitempty"`
		Revision int64  `json:"if_revision,omitempty"`
		Agent    bool   `json:"agent,omitempty"`
	}{Revision: u.Expected.Revision, Agent: u.Agent}
	if t := u.Expected.Updated; !t.IsZero() {
		options.Expected = t.UTC().Format(time.RFC3339Nano)
	}
	if u.Expected.Exists || options.Expected != "" && options.Revision != 0 {
		now, err := getBlock(ctx, v, u.Name, u.Agent)
		if err != nil {
			return nil, err
		}
		if err := u.Expected.Check(now); err != nil {
			return nil, err
		}
		options.Expected, options.Revision = "", now.Revision
	}
	return json.Marshal(options)
}

// getBlock performs get_block.
func getBlock(ctx context.Context, v *memory.View, name string, agent bool) (found *block.Block, err error) {
	options := json.RawMessage("null")
	if agent {
		options = json.RawMessage(`{"agent":true}`)
	}
	reply, err := v.Call(ctx, abi.Call{Op: abi.GetBlock, Args: []json.RawMessage{quoted(name), options}})
	if err != nil {
		return nil, err
	}
	return found, json.Unmarshal(reply, &found)
}

// perform executes the function "body" in a transaction, and adds the act to the ledger.
func (b Blocks) perform(ctx context.Context, caller Caller, readOnly bool, body func(context.Context, *memory.View) error) error {
	id, err := b.h.newID("op")
	if err != nil {
		return err
	}
	if b.authority.Unrestricted() {
		caller = b.h.Sessions().withUser(ctx, caller)
	}
	done, err := b.h.memory.Transact(ctx, &memory.Tx{Caller: caller.as(id), Authority: b.authority, ReadOnly: readOnly}, body)
	b.h.ledger.recordAct(caller, id, actOperate, done.Effects, err)
	return err
}
