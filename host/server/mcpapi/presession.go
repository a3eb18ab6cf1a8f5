package mcpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionlessMethods are the methods that begin a session or need no session.
var sessionlessMethods = []string{"initialize", "ping", "server/discover"}

// rejectBeforeSession rejects a request that needs a session but has none. The result is true if
// the request was rejected. The SDK would respond with an error that has no code. After the call,
// the body of the request can still be read from the beginning.
func rejectBeforeSession(w http.ResponseWriter, r *http.Request) bool {
	text, err := io.ReadAll(r.Body)
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), errReader{err}), r.Body}
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		} `json:"params"`
	}
	if err != nil || json.Unmarshal(text, &message) != nil || message.ID == nil || message.Method == "" {
		return false // the SDK reports the error
	}
	// Since protocol version 2026-07-28, each request contains the protocol version and does not
	// need a session.
	if _, sessionless := message.Params.Meta[mcp.MetaKeyProtocolVersion]; sessionless || slices.Contains(sessionlessMethods, message.Method) {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	answer := errorResponse(idOf(text), jsonrpc.CodeInvalidRequest, "the request has no session; start a session with the method \"initialize\"")
	_, _ = w.Write(append(answer, '\n')) // the client may have disconnected
	return true
}

// errReader is a reader that immediately returns an error or io.EOF.
type errReader struct{ err error }

func (f errReader) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}
