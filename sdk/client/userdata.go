package client

import (
	"context"
	"io"
	"net/http"

	"github.com/toolrun/toolrun/abi"
)

// ExportUser writes all data of a user to w, as a ZIP archive of lists with one JSON value a line, and of files: what
// EraseUser would remove. It returns the size. An error means that what was written is not whole.
func (c *Client) ExportUser(ctx context.Context, user string, w io.Writer) (int64, error) {
	r := newRequest(http.MethodGet, "users", user, "export")
	response, err := c.send(ctx, r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.Header.Get("Content-Type") != "application/zip" {
		f := abi.Faultf(abi.Unavailable, "the answer is not an export of a toolrun service")
		return 0, &Error{Fault: f, Status: response.StatusCode}
	}
	n, err := io.Copy(w, response.Body)
	if err != nil {
		return n, unanswered(ctx, r.method, "the export broke off", err)
	}
	return n, nil
}
