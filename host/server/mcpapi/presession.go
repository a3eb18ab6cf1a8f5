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

// beforeInitialize are the methods that begin a session, or need none.
var sessionlessMethods = []string{"initialize", "ping", "server/discover"}

// refuseEarly answers a request outside of a session that needs one, and reports whether it did: the SDK answers it with
// an error without a code. It leaves the body as it is.
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
		return false // the SDK reports what is wrong
	}
	// A request of the protocol from 2026-07-28 on names its version, and needs no session.
	if _, sessionless := message.Params.Meta[mcp.MetaKeyProtocolVersion]; sessionless || slices.Contains(sessionlessMethods, message.Method) {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	answer := errorResponse(idOf(text), jsonrpc.CodeInvalidRequest, "the request is outside of a session: begin one with initialize")
	_, _ = w.Write(append(answer, '\n')) // whose reader may have gone
	return true
}

// failing is a stream that ends, with an error if there is one.
type errReader struct{ err error }

func (f errReader) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}
