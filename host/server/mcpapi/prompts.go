package mcpapi

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addPrompts adds the app's prompts. The prompts have no arguments.
func (s *session) addPrompts() {
	for _, p := range s.api.host.App().Prompts {
		if len(p.Broken) > 0 {
			continue
		}
		s.server.AddPrompt(&mcp.Prompt{Name: p.Name, Description: p.Description},
			func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				ctx, cancel := s.until(ctx)
				defer cancel()
				text, err := s.api.host.Render(ctx, s.current(), p.Name)
				if err != nil {
					return nil, protocolError(err)
				}
				message := &mcp.PromptMessage{Role: "user", Content: &mcp.TextContent{Text: text}}
				return &mcp.GetPromptResult{Description: p.Description, Messages: []*mcp.PromptMessage{message}}, nil
			})
	}
}
