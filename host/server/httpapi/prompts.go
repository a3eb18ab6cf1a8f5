package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

type promptInput struct {
	apitypes.Target
	Name string `path:"prompt" minLength:"1" maxLength:"128" doc:"Name of a declared prompt"`
	Body apitypes.RenderRequest
}

type renderedOutput struct{ Body apitypes.Rendered }

func addPrompts(s *Server) {
	tags := []string{"prompts"}
	add(s, auth.Prompts, huma.Operation{
		OperationID: "list-prompts", Method: http.MethodGet, Path: "/prompts", Tags: tags, Summary: "List the prompts",
	}, func(_ context.Context, c *call, _ *apitypes.Target) (*listOutput[apitypes.Prompt], error) {
		list := []apitypes.Prompt{}
		for _, p := range c.host.App().Prompts {
			list = append(list, apitypes.Prompt{Name: p.Name, Description: p.Description})
		}
		return &listOutput[apitypes.Prompt]{apitypes.List[apitypes.Prompt]{Items: list}}, nil
	})
	add(s, auth.Prompts, huma.Operation{
		OperationID: "render-prompt", Method: http.MethodPost, Path: "/prompts/{prompt}/render", Tags: tags, Summary: "Render a prompt",
		Description: "Renders the prompt with the records of the session and the user, as far as the grants of the prompt allow. All records are read from one snapshot.",
	}, func(ctx context.Context, c *call, in *promptInput) (*renderedOutput, error) {
		caller, err := c.callerIn(ctx, in.Body.User, in.Body.Session, in.Body.Workflow)
		if err != nil {
			return nil, err
		}
		caller.Agent = in.Body.Agent
		request := host.PromptRequest{Prompt: in.Name, Caller: caller, Message: in.Body.Message, MemoryPolicy: policyOf(in.Body.Policy)}
		rendered, err := c.host.RenderPrompt(ctx, request)
		out := apitypes.Rendered{Name: in.Name, Text: rendered.Text, Missing: rendered.Missing, SystemReminders: rendered.SystemReminders}
		return &renderedOutput{out}, err
	})
}
