package client

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Prompts lists the prompts of the app.
func (c *Client) Prompts(ctx context.Context) ([]apitypes.Prompt, error) {
	return items(fetch[apitypes.List[apitypes.Prompt]](ctx, c, newRequest(http.MethodGet, "prompts")))
}

// Render renders a prompt with what it may read of the caller's memory.
func (c *Client) Render(ctx context.Context, caller Caller, prompt string) (*apitypes.Rendered, error) {
	r := newRequest(http.MethodPost, "prompts", prompt, "render")
	r.repeatable = true // it changes nothing
	return fetchWith[apitypes.Rendered](ctx, c, r, apitypes.RenderRequest{Session: caller.Session, User: caller.User})
}

// Stores lists the stores of the app, those of its file and those that were created through the API.
func (c *Client) Stores(ctx context.Context) ([]apitypes.Store, error) {
	return items(fetch[apitypes.List[apitypes.Store]](ctx, c, newRequest(http.MethodGet, "stores")))
}

// Store describes a store.
func (c *Client) Store(ctx context.Context, name string) (*apitypes.Store, error) {
	return fetch[apitypes.Store](ctx, c, newRequest(http.MethodGet, "stores", name))
}

// CreateStore declares a store beside those of the app file.
func (c *Client) CreateStore(ctx context.Context, store apitypes.Store) (*apitypes.Store, error) {
	return fetchWith[apitypes.Store](ctx, c, newRequest(http.MethodPost, "stores"), store)
}

// ChangeStore replaces the declaration of a store that was created through the API.
func (c *Client) ChangeStore(ctx context.Context, store apitypes.Store) (*apitypes.Store, error) {
	r := newRequest(http.MethodPut, "stores", store.TechnicalName)
	r.repeatable = true
	return fetchWith[apitypes.Store](ctx, c, r, store)
}

// Export returns the configuration of the app as a document: an app file in JSON, without anything that is stored.
func (c *Client) Export(ctx context.Context) (json.RawMessage, error) {
	document, err := fetch[json.RawMessage](ctx, c, newRequest(http.MethodGet, "export"))
	if err != nil {
		return nil, err
	}
	return *document, nil
}

// Import declares the stores of a document that the app's file does not, and returns their names, and what else the document
// has: tools and prompts are deployed with the app file.
func (c *Client) Import(ctx context.Context, document json.RawMessage) (*apitypes.Imported, error) {
	return fetchWith[apitypes.Imported](ctx, c, newRequest(http.MethodPost, "import"), document)
}

// Whoami says whose the key is, and what apps it may use.
func (c *Client) Whoami(ctx context.Context) (*apitypes.Whoami, error) {
	r := newRequest(http.MethodGet, "whoami")
	r.general = true
	return fetch[apitypes.Whoami](ctx, c, r)
}
