package client

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/toolrun/toolrun/host/httpapi/wire"
)

// Prompts lists the prompts of the app.
func (c *Client) Prompts(ctx context.Context) ([]wire.Prompt, error) {
	return items(fetch[wire.List[wire.Prompt]](ctx, c, newRequest(http.MethodGet, "prompts")))
}

// Render renders a prompt with what it may read of the caller's memory.
func (c *Client) Render(ctx context.Context, caller Caller, prompt string) (*wire.Rendered, error) {
	r := newRequest(http.MethodPost, "prompts", prompt, "render")
	r.repeatable = true // it changes nothing
	return fetchWith[wire.Rendered](ctx, c, r, wire.RenderRequest{Session: caller.Session, User: caller.User})
}

// Stores lists the stores of the app, those of its file and those that were created through the API.
func (c *Client) Stores(ctx context.Context) ([]wire.Store, error) {
	return items(fetch[wire.List[wire.Store]](ctx, c, newRequest(http.MethodGet, "stores")))
}

// Store describes a store.
func (c *Client) Store(ctx context.Context, name string) (*wire.Store, error) {
	return fetch[wire.Store](ctx, c, newRequest(http.MethodGet, "stores", name))
}

// CreateStore declares a store beside those of the app file.
func (c *Client) CreateStore(ctx context.Context, store wire.Store) (*wire.Store, error) {
	return fetchWith[wire.Store](ctx, c, newRequest(http.MethodPost, "stores"), store)
}

// ChangeStore replaces the declaration of a store that was created through the API.
func (c *Client) ChangeStore(ctx context.Context, store wire.Store) (*wire.Store, error) {
	r := newRequest(http.MethodPut, "stores", store.TechnicalName)
	r.repeatable = true
	return fetchWith[wire.Store](ctx, c, r, store)
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
func (c *Client) Import(ctx context.Context, document json.RawMessage) (*wire.Imported, error) {
	return fetchWith[wire.Imported](ctx, c, newRequest(http.MethodPost, "import"), document)
}

// Whoami says whose the key is, and what apps it may use.
func (c *Client) Whoami(ctx context.Context) (*wire.Whoami, error) {
	r := newRequest(http.MethodGet, "whoami")
	r.general = true
	return fetch[wire.Whoami](ctx, c, r)
}
