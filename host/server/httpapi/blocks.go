package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

type listBlocksInput struct {
	apitypes.BlockQuery
	Scope string `query:"scope" enum:"user,agent,all" doc:"Scope of the blocks. The scope all includes the blocks of the named agent, or of every agent if the request names no agent. Default: agent if the request names an agent, else user"`
}

type putBlockInput struct {
	apitypes.BlockPlace
	IfMatch     string `header:"If-Match" maxLength:"64" doc:"The ETag that the block must have, or * for any existing block"`
	IfNoneMatch string `header:"If-None-Match" enum:"*" doc:"The value * requires that the block does not exist"`
	Body        apitypes.BlockUpdate
}

type deleteBlockInput struct {
	apitypes.BlockPlace
	IfMatch  string `header:"If-Match" maxLength:"64" doc:"The ETag that the block must have, or * for any block. The header is required unless the request has the parameter expected_updated_at"`
	Expected string `query:"expected_updated_at" maxLength:"64" doc:"The updated_at of the block that you last read. A time without a zone is in UTC"`
}

type blockOutput struct {
	ETag string `header:"ETag" doc:"The block's revision"`
	Body apitypes.Block
}

type blocksOutput struct{ Body apitypes.Blocks }

type blockDeclarationsOutput struct{ Body apitypes.BlockDeclarations }

func addBlocks(s *Server) {
	tags := []string{"memory"}
	const path = "/memory/blocks/{block}"
	add(s, auth.Blocks, huma.Operation{
		OperationID: "list-blocks", Method: http.MethodGet, Path: "/memory/blocks", Tags: tags, Summary: "List the blocks of a user",
	}, listBlocks)
	add(s, auth.Blocks, huma.Operation{
		OperationID: "list-block-declarations", Method: http.MethodGet, Path: "/memory/declarations", Tags: tags, Summary: "List the blocks that the app declares, with their limits",
	}, listDeclarations)
	add(s, auth.Blocks, huma.Operation{
		OperationID: "get-block", Method: http.MethodGet, Path: path, Tags: tags, Summary: "Read a block",
	}, getBlock)
	add(s, auth.Blocks, huma.Operation{
		OperationID: "put-block", Method: http.MethodPut, Path: path, Tags: tags, Summary: "Replace a block", Errors: []int{http.StatusPreconditionFailed},
		Description: "The write fails with status 409 if the block has changed after the last read. To create a block, send null as `expected_updated_at`.",
	}, putBlock)
	add(s, auth.Blocks, huma.Operation{
		OperationID: "delete-block", Method: http.MethodDelete, Path: path, Tags: tags, Summary: "Delete a block",
		Description: "Requires the header If-Match or the parameter `expected_updated_at`.",
		Errors:      []int{http.StatusPreconditionFailed, http.StatusPreconditionRequired},
	}, deleteBlock)
}

// blockCaller returns the Caller of a request for the blocks of a user or an agent. Blocks do not
// belong to a session. However, if credentials are valid for only one session, they give no access
// to blocks after the session has ended.
func (c *call) blockCaller(user, agent string) (host.Caller, error) {
	caller, err := c.named(user, "")
	caller.Agent = agent
	return caller, err
}

// scopeOf returns the scope that a request selects by the parameters "scope" and "agent_id".
func scopeOf(scope, agent string) (block.Scope, error) {
	selected := block.Scope(scope)
	switch {
	case scope == "" && agent != "":
		return block.ScopeAgent, nil
	case scope == "":
		return block.ScopeUser, nil
	case selected == block.ScopeAgent && agent == "":
		return "", abi.Faultf(abi.InvalidArgument, "the scope \"agent\" requires the id of an agent").WithHint("set the agent with `agent_id`")
	case selected == block.ScopeUser && agent != "":
		return "", abi.Faultf(abi.InvalidArgument, "the scope \"user\" does not accept an agent").WithHint("omit `agent_id`, or use the scope \"agent\"")
	}
	return selected, nil
}

// blockPlace returns the caller of a request for a declared block. The boolean result is true if
// the block belongs to the agent.
func (c *call) blockPlace(in apitypes.BlockPlace) (caller host.Caller, agent bool, err error) {
	scope, err := scopeOf(in.Scope, in.Agent)
	if err != nil {
		return caller, false, err
	}
	if caller, err = c.blockCaller(in.User, in.Agent); err != nil {
		return caller, false, err
	}
	_, err = c.host.Blocks().Find(in.Block)
	return caller, scope == block.ScopeAgent, err
}

func listBlocks(ctx context.Context, c *call, in *listBlocksInput) (*blocksOutput, error) {
	scope, err := scopeOf(in.Scope, in.Agent)
	if err != nil {
		return nil, err
	}
	caller, err := c.blockCaller(in.User, in.Agent)
	if err != nil {
		return nil, err
	}
	found, err := c.host.Blocks().List(ctx, caller, scope)
	if err != nil {
		return nil, err
	}
	list := []apitypes.Block{}
	for _, b := range found {
		list = append(list, blockOf(b))
	}
	return &blocksOutput{apitypes.Blocks{Blocks: list}}, nil
}

func listDeclarations(_ context.Context, c *call, _ *apitypes.Target) (*blockDeclarationsOutput, error) {
	list := []apitypes.BlockDeclaration{} // empty if the app has no blocks
	for _, b := range c.host.Blocks().Declared() {
		list = append(list, apitypes.BlockDeclaration(block.DeclarationOf(b)))
	}
	return &blockDeclarationsOutput{apitypes.BlockDeclarations{Blocks: list}}, nil
}

func getBlock(ctx context.Context, c *call, in *apitypes.BlockPlace) (*blockOutput, error) {
	caller, agent, err := c.blockPlace(*in)
	if err != nil {
		return nil, err
	}
	found, err := c.host.Blocks().Get(ctx, caller, in.Block, agent)
	if err != nil {
		return nil, err
	}
	if found == nil {
		f := abi.Faultf(abi.NotFound, "the block %q does not exist", in.Block)
		f.Store = in.Block
		return nil, f.WithHint("create the block with PUT and \"expected_updated_at\": null")
	}
	return outputOf(*found), nil
}

func putBlock(ctx context.Context, c *call, in *putBlockInput) (*blockOutput, error) {
	must := apitypes.Precondition{IfMatch: in.IfMatch, IfNoneMatch: in.IfNoneMatch}
	expected, err := expectedOf(must, in.Body.HasExpected, in.Body.Expected)
	if err != nil {
		return nil, err
	}
	caller, agent, err := c.blockPlace(in.BlockPlace)
	if err != nil {
		return nil, err
	}
	stored, err := c.host.Blocks().Update(ctx, caller, host.BlockUpdate{Name: in.Block, Agent: agent, Content: in.Body.Content, Expected: expected})
	if errors.Is(err, abi.TooLarge) {
		return nil, problemOfFault(abi.FaultOf(err), http.StatusUnprocessableEntity)
	}
	if err != nil {
		return nil, preconditionFailed(must, "block", err)
	}
	return outputOf(*stored), nil
}

func deleteBlock(ctx context.Context, c *call, in *deleteBlockInput) (*deletedOutput, error) {
	if in.IfMatch == "" && in.Expected == "" {
		f := abi.Faultf(abi.InvalidArgument, "the deletion of a block requires a precondition").
			WithHint("send the block's ETag in If-Match, or the block's `updated_at` as `expected_updated_at`")
		return nil, problemOfFault(f, http.StatusPreconditionRequired)
	}
	must, text := apitypes.Precondition{IfMatch: in.IfMatch}, &in.Expected
	if in.Expected == "" {
		text = nil
	}
	expected, err := expectedOf(must, text != nil, text)
	if err != nil {
		return nil, err
	}
	caller, agent, err := c.blockPlace(in.BlockPlace)
	if err != nil {
		return nil, err
	}
	deleted, err := c.host.Blocks().Delete(ctx, caller, host.BlockUpdate{Name: in.Block, Agent: agent, Expected: expected})
	if err != nil {
		return nil, preconditionFailed(must, "block", err)
	}
	return &deletedOutput{apitypes.Deleted{Success: true, Deleted: deleted}}, nil
}

// expectedOf returns the block version that a request expects. The request contains this version in
// a header, or as a time. The argument "timed" is true if the request has the member
// "expected_updated_at", even if the value of the member is null.
func expectedOf(must apitypes.Precondition, timed bool, updated *string) (block.Expected, error) {
	named := 0
	for _, present := range []bool{must.IfMatch != "", must.IfNoneMatch != "", timed} {
		if present {
			named++
		}
	}
	switch {
	case named > 1:
		return block.Expected{}, abi.Faultf(abi.InvalidArgument, "the request has several preconditions").
			WithHint("send only one of If-Match, If-None-Match and `expected_updated_at`")
	case updated != nil:
		at, ok := block.ParseTime(*updated)
		if !ok || at.IsZero() {
			return block.Expected{}, abi.Faultf(abi.InvalidArgument, "`expected_updated_at` is not a time").
				WithHint("send the `updated_at` that you last read, such as 2026-04-30T16:20:00.000Z")
		}
		return block.Expected{Updated: at}, nil
	case must.IfMatch == "":
		return block.Expected{}, nil // the block must not exist
	}
	expected, ok := block.ParseETag(must.IfMatch)
	if !ok {
		return block.Expected{}, abi.Faultf(abi.InvalidArgument, "If-Match must be one ETag of a block, or *")
	}
	return expected, nil
}

func outputOf(b block.Block) *blockOutput {
	return &blockOutput{ETag: block.ETag(b.Revision), Body: blockOf(b)}
}

// blockOf converts a block to the type that responses contain.
func blockOf(b block.Block) apitypes.Block {
	j := b.JSON()
	return apitypes.Block{
		ID: j.ID, Type: j.Name, Content: j.Content, Scope: string(j.Scope), Agent: j.Agent, Created: j.Created, Updated: j.Updated, Revision: j.Revision,
	}
}
