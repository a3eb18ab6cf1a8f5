package client

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Tools lists the tools of the app.
func (c *Client) Tools(ctx context.Context) ([]apitypes.Tool, error) {
	return items(fetch[apitypes.List[apitypes.Tool]](ctx, c, newRequest(http.MethodGet, "tools")))
}

// Prompts lists the prompts of the app.
func (c *Client) Prompts(ctx context.Context) ([]apitypes.Prompt, error) {
	return items(fetch[apitypes.List[apitypes.Prompt]](ctx, c, newRequest(http.MethodGet, "prompts")))
}

// Render renders a prompt. The prompt can read only those stores of the caller that are granted to
// the prompt.
func (c *Client) Render(ctx context.Context, caller Caller, prompt string) (*apitypes.Rendered, error) {
	request := apitypes.RenderRequest{Session: caller.Session, User: caller.User, Workflow: caller.Workflow, Agent: caller.Agent}
	return c.RenderPrompt(ctx, prompt, request)
}

// RenderPrompt is like Render, but takes the whole request. The request can contain additional
// fields, such as a policy for memory blocks.
func (c *Client) RenderPrompt(ctx context.Context, prompt string, request apitypes.RenderRequest) (*apitypes.Rendered, error) {
	r := newRequest(http.MethodPost, "prompts", prompt, "render")
	r.repeatable = true // rendering changes nothing
	return fetchWith[apitypes.Rendered](ctx, c, r, request)
}

// Export returns the configuration of the app as an app file in JSON. The app file does not contain
// stored data.
func (c *Client) Export(ctx context.Context) (json.RawMessage, error) {
	document, err := fetch[json.RawMessage](ctx, c, newRequest(http.MethodGet, "export"))
	if err != nil {
		return nil, err
	}
	return *document, nil
}

// Import declares those stores in a document that the app file does not declare. Import returns the
// names of these stores, and the names of the parts that were not imported. Import never imports
// tools and prompts, which must be deployed with the app file.
func (c *Client) Import(ctx context.Context, document json.RawMessage) (*apitypes.Imported, error) {
	return fetchWith[apitypes.Imported](ctx, c, newRequest(http.MethodPost, "import"), document)
}

// Whoami describes the key and the apps that the key is allowed to use.
func (c *Client) Whoami(ctx context.Context) (*apitypes.Whoami, error) {
	r := newRequest(http.MethodGet, "whoami")
	r.general = true
	return fetch[apitypes.Whoami](ctx, c, r)
}
