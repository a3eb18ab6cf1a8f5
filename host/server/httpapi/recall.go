package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

type recallInput struct {
	apitypes.Target
	Body apitypes.RecallRequest
}

type contextInput struct {
	apitypes.Target
	Body apitypes.ContextRequest
}

type recalledOutput struct{ Body apitypes.Recalled }

type contextOutput struct{ Body apitypes.MemoryContext }

func addRecall(s *Server) {
	tags := []string{"memory"}
	add(s, auth.Blocks, huma.Operation{
		OperationID: "recall", Method: http.MethodPost, Path: "/memory/recall", Tags: tags, Summary: "Search the blocks of a user",
		Description: "Returns the lines of searched blocks, such as archival, that match the query best.",
	}, recall)
	add(s, auth.Blocks, huma.Operation{
		OperationID: "memory-context", Method: http.MethodPost, Path: "/memory/context", Tags: tags, Summary: "Read the memory for a prompt",
		Description: "Returns the blocks for a prompt in `user_memory`. With the archival mode auto, the response also contains lines that match the message.",
	}, memoryContext)
}

func recall(ctx context.Context, c *call, in *recallInput) (*recalledOutput, error) {
	caller, err := c.blockCaller(in.Body.User, in.Body.Agent)
	if err != nil {
		return nil, err
	}
	query := host.RecallQuery{Query: in.Body.Query, Agent: in.Body.Agent != ""}
	if in.Body.Limit != nil {
		query.Limit = *in.Body.Limit
	}
	if in.Body.MinScore != nil {
		query.MinScore = *in.Body.MinScore
	}
	found, err := c.host.Blocks().Recall(ctx, caller, query)
	if err != nil {
		return nil, err
	}
	lines := []apitypes.RecalledLine{}
	for _, m := range found {
		lines = append(lines, apitypes.RecalledLine{
			Content: m.Content, Score: m.Score, Type: m.Name, Scope: string(m.Scope), Agent: m.Agent, Line: m.Line, Updated: m.Updated,
		})
	}
	return &recalledOutput{apitypes.Recalled{Results: lines}}, nil
}

func memoryContext(ctx context.Context, c *call, in *contextInput) (*contextOutput, error) {
	caller, err := c.blockCaller(in.Body.User, in.Body.Agent)
	if err != nil {
		return nil, err
	}
	found, err := c.host.Blocks().Context(ctx, caller, in.Body.Message, policyOf(in.Body.Policy))
	if err != nil {
		return nil, err
	}
	return &contextOutput{apitypes.MemoryContext{UserMemory: found.UserMemory, SystemReminders: orEmpty(found.SystemReminders)}}, nil
}

// policyOf returns the policy in a request, or the default policy if the request has none.
func policyOf(p *apitypes.MemoryPolicy) host.MemoryPolicy {
	if p == nil {
		return host.MemoryPolicy{}
	}
	policy := host.MemoryPolicy{ArchivalMinScore: p.ArchivalMinScore, IncludeUserCore: p.IncludeUserCore, IncludeAgentCore: p.IncludeAgentCore}
	if p.ArchivalMode != nil {
		policy.ArchivalMode = host.ArchivalMode(*p.ArchivalMode)
	}
	if p.ArchivalLimit != nil {
		policy.ArchivalLimit = *p.ArchivalLimit
	}
	return policy
}
