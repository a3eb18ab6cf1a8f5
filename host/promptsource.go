package host

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/block"
)

// promptSource reads the values that a template uses. promptSource reads all values in one
// transaction.
type promptSource struct {
	h         *Host
	view      *memory.View
	authority memory.Authority
	request   PromptRequest
}

// store returns the content of a store, the text of a block, or the value of user_memory.
func (p promptSource) store(ctx context.Context, name string) (json.RawMessage, error) {
	if name == declare.UserMemory {
		return p.userMemory(ctx)
	}
	if !isBlock(p.h.app, name) {
		return get(ctx, p.view, abi.GetContent, name)
	}
	reply, err := get(ctx, p.view, abi.GetBlock, name)
	if err != nil {
		return nil, err
	}
	var found *block.Block
	if err := json.Unmarshal(reply, &found); err != nil || found == nil {
		return nil, err
	}
	return json.Marshal(found.Content)
}

// userMemory returns the value of user_memory. The value of user_memory contains the texts of the
// blocks whose use is "context". The template must have the right to read at least one of these
// blocks.
func (p promptSource) userMemory(ctx context.Context) (json.RawMessage, error) {
	if !slices.ContainsFunc(p.h.app.Blocks, func(b declare.Block) bool {
		return b.Use == declare.BlockContext && p.authority.CanRead(b.Name)
	}) {
		return nil, p.noUserMemory()
	}
	policy := p.request.MemoryPolicy
	policy.ArchivalMode = ArchivalOff
	found, err := readPromptMemory(ctx, p.view, p.h, p.authority, "", policy)
	if err != nil {
		return nil, err
	}
	return json.Marshal(found.UserMemory)
}

// noUserMemory returns the fault of a template that uses user_memory but cannot read any block
// whose use is "context".
func (p promptSource) noUserMemory() error {
	f := abi.Faultf(abi.NotFound, "user_memory contains no block, because the prompt has no grant on a block")
	if len(p.h.app.Blocks) == 0 {
		return abi.Faultf(abi.NotFound, "user_memory does not exist, because the app has no blocks").WithHint("declare `blocks: true` in the app file")
	}
	return f.WithHint("grant a block to the prompt with `grants: {%s: read}`", declare.Core)
}

// reminders searches the blocks and returns the lines that match the message of the request. If the
// policy does not request reminders, the result is empty.
func (p promptSource) reminders(ctx context.Context) ([]string, error) {
	if err := p.request.MemoryPolicy.check(); err != nil || p.request.MemoryPolicy.ArchivalMode != ArchivalAuto || len(p.h.app.Blocks) == 0 {
		return nil, err
	}
	found, err := readPromptMemory(ctx, p.view, p.h, p.authority, p.request.Message, p.request.MemoryPolicy)
	return found.SystemReminders, err
}
