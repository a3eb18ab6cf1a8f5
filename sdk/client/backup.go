package client

import (
	"context"
	"io"
	"net/http"

	"github.com/toolrun/toolrun/abi"
)

// Backup writes a backup of the whole service with the data of all tenants to w, and returns the
// size of the backup. Backup requires a key with the role backup. The response begins when the
// service has copied the database, which takes a while for a large database. If Backup returns an
// error, the backup is incomplete.
func (c *Client) Backup(ctx context.Context, w io.Writer) (int64, error) {
	r := newRequest(http.MethodGet, "backup")
	r.general = true
	response, err := c.send(ctx, r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.ContentLength < 0 || response.Header.Get("Content-Type") != "application/octet-stream" {
		f := abi.Faultf(abi.Unavailable, "the response is not a backup from a toolrun service")
		return 0, &Error{Fault: f, Status: response.StatusCode}
	}
	n, err := io.Copy(w, response.Body)
	if err == nil && n != response.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return n, unanswered(ctx, r.method, "the backup ended early", err)
	}
	return n, nil
}
