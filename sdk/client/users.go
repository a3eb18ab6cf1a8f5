package client

import (
	"context"
	"io"
	"net/http"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Users is a handle for the data of users. Users is safe for concurrent use.
type Users struct{ client *Client }

// Users returns the handle for the data of users.
func (c *Client) Users() Users { return Users{c} }

// Export writes all data of a user to w as a ZIP archive. The archive contains the data that Erase
// would remove. The archive contains files with one JSON value per line, and the uploaded files.
// Export returns the size of the archive. If Export returns an error, the archive is incomplete.
func (h Users) Export(ctx context.Context, user string, w io.Writer) (int64, error) {
	r := newRequest(http.MethodGet, "users", user, "export")
	response, err := h.client.send(ctx, r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.Header.Get("Content-Type") != "application/zip" {
		f := abi.Faultf(abi.Unavailable, "the response is not an export from a toolrun service")
		return 0, &Error{Fault: f, Status: response.StatusCode}
	}
	n, err := io.Copy(w, response.Body)
	if err != nil {
		return n, unanswered(ctx, r.method, "the export ended early", err)
	}
	return n, nil
}

// Erase removes all data of a user and returns the numbers of removed items. An erasure cannot be
// undone.
func (h Users) Erase(ctx context.Context, user string) (*apitypes.Erased, error) {
	r := newRequest(http.MethodDelete, "users", user)
	r.repeatable = true
	return fetch[apitypes.Erased](ctx, h.client, r)
}
