package mcpapi

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// recallCollection is the name of the tool for collections.
const recallCollection = "recall_collection"

// maxFoundEntries is the maximum number of results of recall_collection.
const maxFoundEntries = 100

// exposedCollections returns the collections that the app exposes to clients. The entries of an
// exposed collection belong to users or sessions.
func (s *Server) exposedCollections() (own []declare.Store) {
	for _, st := range s.host.App().Stores {
		if st.Kind == declare.KindCollection && st.Collection.Exposed {
			own = append(own, st)
		}
	}
	return own
}

// describeCollections creates the tool for collections, if the app exposes a collection. The
// argument "taken" contains the names of the app's tools and agents.
func (s *Server) describeCollections(taken []string) {
	own := s.exposedCollections()
	if len(own) == 0 {
		return
	}
	if slices.Contains(taken, recallCollection) {
		s.log.Warn("the tool for collections is hidden from MCP clients, because the app has a tool or an agent with the same name", "tool", recallCollection)
		return
	}
	outside := false
	s.memory = append(s.memory, offeredMemory{&mcp.Tool{
		Name: recallCollection, Title: "Recall collection", InputSchema: searchSchema(own),
		Description: "Search a collection of entries that belong to the user, and return the entries that match best.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &outside},
	}, func(sess *session) mcp.ToolHandler { return sess.searchCollection }})
}

// searchSchema returns the schema of the input of recall_collection.
func searchSchema(own []declare.Store) json.RawMessage {
	names, about := []string{}, "The collection."
	for _, st := range own {
		names = append(names, st.Name)
		if st.Description != "" {
			about += " " + st.Name + ": " + strings.TrimSuffix(st.Description, ".") + "."
		}
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object",
		"properties": map[string]any{
			"collection": map[string]any{"type": "string", "enum": names, "description": about},
			"query":      map[string]any{"type": "string", "minLength": 1, "description": "Text to search for"},
			"namespace":  map[string]any{"type": "string", "description": "The namespace to search. Default: the default namespace"},
			"limit":      map[string]any{"type": "integer", "minimum": 1, "maximum": maxFoundEntries, "description": "Maximum number of entries. Default: 10"},
			"threshold":  map[string]any{"type": "number", "minimum": 0, "maximum": 1, "description": "Minimum score of the entries"},
			"filter":     map[string]any{"type": "object", "description": "Conditions on the metadata: for each name a value, {in: [...]}, or an object with gte and lte"},
		},
		"required": []string{"collection", "query"}, "additionalProperties": false,
	})
	if err != nil {
		return nil
	}
	return schema
}

// collectionSearch is the input of recall_collection.
type collectionSearch struct {
	Collection string          `json:"collection"`
	Query      string          `json:"query"`
	Namespace  string          `json:"namespace"`
	Limit      *int            `json:"limit"`
	Threshold  float64         `json:"threshold"`
	Filter     json.RawMessage `json:"filter"`
}

// request returns the search that the input describes. request returns a fault if the input does
// not match the schema of the tool.
func (in collectionSearch) request(own []declare.Store) (q host.RecallEntries, err error) {
	known := slices.ContainsFunc(own, func(st declare.Store) bool { return st.Name == in.Collection })
	switch {
	case !known:
		return q, abi.Faultf(abi.InputInvalid, "the user cannot search a collection with this name").WithHint("use one of the names in the schema of the tool")
	case in.Query == "":
		return q, abi.Faultf(abi.InputInvalid, "the query is missing").WithHint("send the text to search for")
	case in.Threshold < 0 || in.Threshold > 1:
		return q, abi.Faultf(abi.InputInvalid, "the threshold must be from 0 to 1")
	case in.Limit != nil && (*in.Limit < 1 || *in.Limit > maxFoundEntries):
		return q, abi.Faultf(abi.InputInvalid, "the limit must be from 1 to %d", maxFoundEntries)
	case in.Filter != nil && !strictjson.IsObject(in.Filter):
		return q, abi.Faultf(abi.InputInvalid, "the filter is not an object").WithHint("omit the filter to search all entries of the namespace")
	}
	q = host.RecallEntries{Collection: in.Collection, Namespace: in.Namespace, Query: in.Query, Threshold: in.Threshold, Filter: in.Filter}
	if in.Limit != nil {
		q.Limit = *in.Limit
	}
	return q, nil
}

// searchCollection performs a call of recall_collection.
func (s *session) searchCollection(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in collectionSearch
	if err := decodeArguments(req.Params.Arguments, &in, "collection", "query", "namespace", "limit", "threshold", "filter"); err != nil {
		return refusedCall(abi.FaultOf(err)), nil
	}
	query, err := in.request(s.api.exposedCollections())
	if err != nil {
		return refusedCall(abi.FaultOf(err)), nil
	}
	ctx, cancel := s.until(ctx)
	defer cancel()
	found, err := host.CollectionsOf(s.api.host).Recall(ctx, s.current(), query)
	if err != nil {
		return refusedCall(faultOf(err)), nil
	}
	return structured(map[string]any{"results": found}), nil
}
