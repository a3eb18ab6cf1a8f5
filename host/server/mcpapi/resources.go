package mcpapi

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
)

// sessionMeta describes the built-in store sessionMeta as a resource.
var sessionMeta = declare.Store{
	Name: declare.SessionMeta, Title: "Session", Description: "Metadata of the session", Access: declare.ScopeSession,
}

// addResources adds the stores that the app exposes and that the caller can access.
func (s *session) addResources() {
	s.addResource(sessionMeta)
	for _, store := range s.api.host.App().Stores {
		if store.Resource && (store.Access != declare.ScopeUser || s.owner.User != "") {
			s.addResource(store)
		}
	}
}

func (s *session) addResource(store declare.Store) {
	uri := "toolrun://" + s.api.host.App().ID + "/memory/" + store.Name
	s.server.AddResource(
		&mcp.Resource{URI: uri, Name: store.Name, Title: store.Title, Description: store.Description, MIMEType: "application/json"},
		func(ctx context.Context, _ *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			ctx, cancel := s.until(ctx)
			defer cancel()
			content, err := s.read(ctx, store.Name)
			if err != nil {
				return nil, protocolError(err)
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "application/json", Text: string(content)}}}, nil
		})
}

// read returns the content of a store for the caller, or null if the store is empty. The client
// acts for a user and not for an operator. Therefore, the Authority of the call permits reading
// this exposed store and nothing else.
func (s *session) read(ctx context.Context, store string) (json.RawMessage, error) {
	name, err := json.Marshal(store)
	if err != nil {
		return nil, err
	}
	shown := memory.Granted([]declare.Grant{{Store: store, Verbs: []abi.Verb{abi.Read}}})
	content, _, err := s.api.host.Stores().Do(ctx, s.current(), shown, abi.Call{Op: abi.GetContent, Args: []json.RawMessage{name}})
	return content, err
}
