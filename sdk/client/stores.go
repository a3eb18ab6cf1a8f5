package client

import (
	"context"
	"net/http"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Stores is a handle for the declarations of stores. Stores is safe for concurrent use.
type Stores struct{ client *Client }

// Stores returns the handle for the declarations of stores.
func (c *Client) Stores() Stores { return Stores{c} }

// List returns the stores of the app: stores in the app file, and stores that were created through
// the API.
func (h Stores) List(ctx context.Context) ([]apitypes.Store, error) {
	return items(fetch[apitypes.List[apitypes.Store]](ctx, h.client, newRequest(http.MethodGet, "stores")))
}

// Get describes a store.
func (h Stores) Get(ctx context.Context, name string) (*apitypes.Store, error) {
	return fetch[apitypes.Store](ctx, h.client, newRequest(http.MethodGet, "stores", name))
}

// Create declares a store in addition to the stores in the app file.
func (h Stores) Create(ctx context.Context, store apitypes.Store) (*apitypes.Store, error) {
	return fetchWith[apitypes.Store](ctx, h.client, newRequest(http.MethodPost, "stores"), store)
}

// Replace replaces the declaration of a store that was created through the API.
func (h Stores) Replace(ctx context.Context, store apitypes.Store) (*apitypes.Store, error) {
	r := newRequest(http.MethodPut, "stores", store.TechnicalName)
	r.repeatable = true
	return fetchWith[apitypes.Store](ctx, h.client, r, store)
}
