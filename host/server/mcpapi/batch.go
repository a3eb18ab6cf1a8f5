package mcpapi

import (
	"bufio"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// isBatch reports whether the body of a request is a JSON array. In JSON-RPC 2.0 an array is a
// batch. After a call of isBatch, the body can still be read from the beginning.
func isBatch(r *http.Request) bool {
	body := bufio.NewReader(r.Body)
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	for {
		c, err := body.ReadByte()
		if err != nil {
			return false // the SDK reports the error
		}
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			continue // white space before a message may be dropped
		}
		_ = body.UnreadByte() // cannot fail after ReadByte
		return c == '['
	}
}

// rejectBatch responds to a batch with a JSON-RPC error.
func rejectBatch(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	answer := errorResponse(nil, jsonrpc.CodeInvalidRequest, "batches are not supported: send one message per request")
	_, _ = w.Write(append(answer, '\n')) // the client may have disconnected
}
