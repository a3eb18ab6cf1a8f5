package client

import (
	"context"
	"net/http"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Memory is a handle for the memory blocks of users. If a Caller has an Agent, Memory uses the
// blocks that belong to the user and the agent. If a Caller has no Agent, Memory uses the blocks of
// the user. Memory is safe for concurrent use.
type Memory struct{ client *Client }

// Memory returns the handle for the memory blocks of users.
func (c *Client) Memory() Memory { return Memory{c} }

// AllScopes is the scope that selects the blocks of the user and the blocks of agents.
const AllScopes = "all"

// newBlockRequest returns a request for blocks of the caller.
func newBlockRequest(method string, caller Caller, path ...string) *request {
	return newRequest(method, append([]string{"memory", "blocks"}, path...)...).set("user_id", caller.User).set("agent_id", caller.Agent)
}

// List returns the existing blocks of the caller. The scope is "" or AllScopes. If the caller has
// an agent, AllScopes adds the blocks of the user. If the caller has no agent, AllScopes adds the
// blocks of all agents.
func (h Memory) List(ctx context.Context, caller Caller, scope string) ([]apitypes.Block, error) {
	list, err := fetch[apitypes.Blocks](ctx, h.client, newBlockRequest(http.MethodGet, caller).set("scope", scope))
	if err != nil {
		return nil, err
	}
	return list.Blocks, nil
}

// Declared returns the blocks that the app declares, with their limits.
func (h Memory) Declared(ctx context.Context) ([]apitypes.BlockDeclaration, error) {
	list, err := fetch[apitypes.BlockDeclarations](ctx, h.client, newRequest(http.MethodGet, "memory", "declarations"))
	if err != nil {
		return nil, err
	}
	return list.Blocks, nil
}

// Get reads a block. If the block does not exist, the error is abi.NotFound.
func (h Memory) Get(ctx context.Context, caller Caller, block string) (*apitypes.Block, error) {
	return fetch[apitypes.Block](ctx, h.client, newBlockRequest(http.MethodGet, caller, block))
}

// Update replaces the content of a block. The argument "expected" is the value of Updated that was
// last read, or "" if the block must not exist. If another writer has changed the block, the error
// is abi.Conflict. If the content exceeds a limit of the block, the error is abi.TooLarge.
func (h Memory) Update(ctx context.Context, caller Caller, block, content, expected string) (*apitypes.Block, error) {
	update := apitypes.BlockUpdate{Content: content}
	if expected != "" {
		update.Expected = &expected
	}
	return fetchWith[apitypes.Block](ctx, h.client, newBlockRequest(http.MethodPut, caller, block), update)
}

// Delete deletes a block. The argument "expected" is the value of Updated that was last read. If
// another writer has changed or deleted the block, the error is abi.Conflict.
func (h Memory) Delete(ctx context.Context, caller Caller, block, expected string) (*apitypes.Deleted, error) {
	r := newBlockRequest(http.MethodDelete, caller, block).set("expected_updated_at", expected)
	return fetch[apitypes.Deleted](ctx, h.client, r)
}

// Recall returns the lines of searched blocks that match a query, sorted by score.
func (h Memory) Recall(ctx context.Context, query apitypes.RecallRequest) ([]apitypes.RecalledLine, error) {
	r := newRequest(http.MethodPost, "memory", "recall")
	r.repeatable = true // it is read-only
	recalled, err := fetchWith[apitypes.Recalled](ctx, h.client, r, query)
	if err != nil {
		return nil, err
	}
	return recalled.Results, nil
}

// Context returns the text of the memory blocks for a prompt. The policy in the request selects the
// blocks.
func (h Memory) Context(ctx context.Context, request apitypes.ContextRequest) (*apitypes.MemoryContext, error) {
	r := newRequest(http.MethodPost, "memory", "context")
	r.repeatable = true // it is read-only
	return fetchWith[apitypes.MemoryContext](ctx, h.client, r, request)
}
