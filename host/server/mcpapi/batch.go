package mcpapi

import (
	"bufio"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// isBatch reports whether the body of a request is an array, which is a batch in JSON-RPC 2.0. It leaves the body as it is.
func isBatch(r *http.Request) bool {
	body := bufio.NewReader(r.Body)
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	for {
		c, err := body.ReadByte()
		if err != nil {
			return false // the SDK reports what is wrong
		}
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			continue // the SDK does without it
		}
		_ = body.UnreadByte() // which follows a ReadByte
		return c == '['
	}
}

// refuseBatch answers a batch with an error of JSON-RPC.
func rejectBatch(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	answer := errorResponse(nil, jsonrpc.CodeInvalidRequest, "batches are not supported: send one message in each request")
	_, _ = w.Write(append(answer, '\n')) // whose reader may have gone
}
