package mcpapi

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
)

// sessionMeta is how the built-in store is listed.
var sessionMeta = memory.Store{
	Name: memory.SessionMeta, Title: "Session", Description: "The session and what the platform says of it", Access: memory.ScopeSession,
}

// addResources adds the stores that the app shows and the caller has.
func (s *session) addResources() {
	s.addResource(sessionMeta)
	for _, store := range s.api.host.App().Stores {
		if store.Resource && (store.Access != memory.ScopeUser || s.owner.User != "") {
			s.addResource(store)
		}
	}
}

func (s *session) addResource(store memory.Store) {
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

// read reads a store as the caller; null where it holds nothing.
func (s *session) read(ctx context.Context, store string) (json.RawMessage, error) {
	caller := s.current()
	if err := s.ownSession(ctx, caller); err != nil {
		return nil, err
	}
	name, err := json.Marshal(store)
	if err != nil {
		return nil, err
	}
	return s.api.host.Perform(ctx, caller, abi.Call{Op: abi.GetContent, Args: []json.RawMessage{name}})
}

// ownSession refuses an anonymous caller who names the session of a user. Perform would take them for an operator, who
// acts for that user.
func (s *session) ownSession(ctx context.Context, caller host.Caller) error {
	if caller.User != "" || s.owner.Session == "" {
		return nil
	}
	if session, err := s.api.host.Session(ctx, caller); err == nil && session.User != "" {
		return abi.Faultf(abi.AccessDenied, "the session belongs to another user")
	}
	return nil
}
