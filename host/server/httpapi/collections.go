package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

type collectionInput struct {
	apitypes.Target
	apitypes.CollectionPath
}

type listEntriesInput struct {
	apitypes.CollectionPlace
	apitypes.PageQuery
	Namespace string `query:"namespace" maxLength:"256" doc:"Namespace of the entries. Default: all namespaces"`
	Default   bool   `query:"default_namespace" doc:"Whether the response contains only entries of the default namespace"`
}

type getEntryInput struct {
	apitypes.CollectionPlace
	ID        string `query:"id" required:"true" minLength:"1" maxLength:"256" doc:"Id of the entry"`
	Namespace string `query:"namespace" maxLength:"256" doc:"The namespace. Default: the default namespace"`
}

type rememberInput struct {
	apitypes.CollectionPlace
	Body apitypes.NewEntries
}

type searchInput struct {
	apitypes.CollectionPlace
	Body apitypes.EntrySearch
}

type forgetInput struct {
	apitypes.CollectionPlace
	Body apitypes.EntrySelector
}

type collectionOutput struct{ Body apitypes.Collection }

type entryOutput struct{ Body apitypes.Entry }

type storedOutput struct{ Body apitypes.StoredEntries }

type foundOutput struct{ Body apitypes.FoundEntries }

type forgottenOutput struct{ Body apitypes.Forgotten }

type reembeddingOutput struct{ Body apitypes.Reembedding }

func addCollections(s *Server) {
	tags := []string{"collections"}
	const path = "/collections/{collection}"
	add(s, auth.Stores, huma.Operation{
		OperationID: "list-collections", Method: http.MethodGet, Path: "/collections", Tags: tags, Summary: "List the collections",
		Description: "Returns the declared collections with the number of entries. If the app file contains `collections: auto`, the response also includes undeclared collections with entries.",
	}, listCollections)
	add(s, auth.Stores, huma.Operation{
		OperationID: "get-collection", Method: http.MethodGet, Path: path, Tags: tags, Summary: "Describe a collection",
	}, func(ctx context.Context, c *call, in *collectionInput) (*collectionOutput, error) {
		caller, err := c.named("", "")
		if err != nil {
			return nil, err
		}
		found, err := host.CollectionsOf(c.host).Show(ctx, caller, in.Collection)
		return &collectionOutput{collectionOf(found)}, err
	})
	add(s, auth.Collections, huma.Operation{
		OperationID: "list-entries", Method: http.MethodGet, Path: path + "/entries", Tags: tags, Summary: "List the entries of a collection",
		Description: "If the request names a user or a session, the response contains only entries of the user, of the session and of the app. A page may be shorter than the limit. More pages follow if `next` is set.",
	}, listEntries)
	add(s, auth.Collections, huma.Operation{
		OperationID: "get-entry", Method: http.MethodGet, Path: path + "/entry", Tags: tags, Summary: "Read an entry",
	}, getEntry)
	add(s, auth.ChangeRecords, huma.Operation{
		OperationID: "remember-entries", Method: http.MethodPost, Path: path + "/entries", Tags: tags, Summary: "Store entries", MaxBodyBytes: maxRunBytes,
		Description: "Stores at most 100 entries in one transaction. A new entry replaces an existing entry with the same id.",
	}, rememberEntries)
	add(s, auth.Collections, huma.Operation{
		OperationID: "recall-entries", Method: http.MethodPost, Path: path + "/recall", Tags: tags, Summary: "Search a collection",
		Description: "Returns the entries of one namespace that match the query best.",
	}, recallEntries)
	add(s, auth.ChangeRecords, huma.Operation{
		OperationID: "forget-entries", Method: http.MethodPost, Path: path + "/forget", Tags: tags, Summary: "Remove entries of a collection",
		Description: "One request removes at most 500 entries. If `more` is true, repeat the request.",
	}, forgetEntries)
	add(s, auth.ChangeRecords, huma.Operation{
		OperationID: "reembed", Method: http.MethodPost, Path: path + "/reembed", Tags: tags, Summary: "Move a collection to the declared embedding model",
		Description: "Each request makes new vectors of entries with the model that the app declares, for about five seconds. Repeat the request until `done` is true. " +
			"The progress is stored: after a failure, a further request continues. Tools can use the collection during the move.",
	}, reembed)
}

func reembed(ctx context.Context, c *call, in *collectionInput) (*reembeddingOutput, error) {
	caller, err := c.named("", "")
	if err != nil {
		return nil, err
	}
	state, err := host.CollectionsOf(c.host).ReembedStep(ctx, caller, in.Collection)
	return &reembeddingOutput{apitypes.Reembedding{Embedder: state.Embedder, Dimension: state.Dim, Moved: state.Moved, Done: state.Done}}, err
}

// inCollection returns the handle for collections and the Caller of a request.
func (c *call) inCollection(ctx context.Context, in apitypes.CollectionPlace) (host.Collections, host.Caller, error) {
	caller, err := c.caller(ctx, in.User, in.Session)
	return host.CollectionsOf(c.host), caller, err
}

func listCollections(ctx context.Context, c *call, _ *apitypes.Target) (*listOutput[apitypes.Collection], error) {
	caller, err := c.named("", "")
	if err != nil {
		return nil, err
	}
	found, err := host.CollectionsOf(c.host).Describe(ctx, caller)
	if err != nil {
		return nil, err
	}
	list := []apitypes.Collection{}
	for _, d := range found {
		list = append(list, collectionOf(d))
	}
	return &listOutput[apitypes.Collection]{apitypes.List[apitypes.Collection]{Items: list}}, nil
}

// collectionOf converts the description of a collection to the type that responses contain.
func collectionOf(d memory.CollectionDetails) apitypes.Collection {
	described := apitypes.Collection{
		Name: d.Name, Declared: d.Declared, Access: d.Access, Retention: d.Retention, Language: d.Language, Erase: d.Erase, Embedding: d.Embedding,
		Embedder: d.Embedder, Dimension: d.Dim, Entries: d.Entries, Bytes: d.Bytes, Namespaces: d.Namespaces, More: d.More,
	}
	if d.MovingTo != nil {
		described.MovingTo = &apitypes.MoveTarget{Embedder: d.MovingTo.Embedder, Dimension: d.MovingTo.Dim}
	}
	return described
}

func listEntries(ctx context.Context, c *call, in *listEntriesInput) (*listOutput[apitypes.Entry], error) {
	if in.Default && in.Namespace != "" {
		return nil, abi.Faultf(abi.InvalidArgument, "`namespace` cannot be combined with `default_namespace`").WithHint("omit `namespace` or `default_namespace`")
	}
	q := memory.EntryQuery{Collection: in.Collection, After: in.After, Limit: in.Limit}
	if in.Default || in.Namespace != "" {
		q.Namespace = &in.Namespace
	}
	collections, caller, err := c.inCollection(ctx, in.CollectionPlace)
	if err != nil {
		return nil, err
	}
	found, next, err := collections.List(ctx, caller, q)
	list := []apitypes.Entry{}
	for _, e := range found {
		list = append(list, apitypes.Entry(e))
	}
	return &listOutput[apitypes.Entry]{apitypes.List[apitypes.Entry]{Items: list, Next: next}}, err
}

func getEntry(ctx context.Context, c *call, in *getEntryInput) (*entryOutput, error) {
	collections, caller, err := c.inCollection(ctx, in.CollectionPlace)
	if err != nil {
		return nil, err
	}
	found, err := collections.Get(ctx, caller, in.Collection, in.Namespace, in.ID)
	if err != nil {
		return nil, err
	}
	if found == nil {
		f := abi.Faultf(abi.NotFound, "the entry does not exist")
		f.Store = in.Collection
		return nil, f
	}
	return &entryOutput{apitypes.Entry(*found)}, nil
}

func rememberEntries(ctx context.Context, c *call, in *rememberInput) (*storedOutput, error) {
	collections, caller, err := c.inCollection(ctx, in.CollectionPlace)
	if err != nil {
		return nil, err
	}
	entries := []host.NewEntry{}
	for _, e := range in.Body.Entries {
		entries = append(entries, host.NewEntry(e))
	}
	stored, err := collections.Remember(ctx, caller, in.Collection, entries...)
	list := []apitypes.StoredEntry{}
	for _, e := range stored {
		list = append(list, apitypes.StoredEntry(e))
	}
	return &storedOutput{apitypes.StoredEntries{Entries: list}}, err
}

func recallEntries(ctx context.Context, c *call, in *searchInput) (*foundOutput, error) {
	collections, caller, err := c.inCollection(ctx, in.CollectionPlace)
	if err != nil {
		return nil, err
	}
	b := in.Body
	found, err := collections.Recall(ctx, caller, host.RecallEntries{
		Collection: in.Collection, Namespace: b.Namespace, Query: b.Query, Limit: b.Limit, Threshold: b.Threshold, Filter: b.Filter, Mode: b.Mode, Scores: b.Scores,
	})
	list := []apitypes.FoundEntry{}
	for _, e := range found {
		list = append(list, apitypes.FoundEntry(e))
	}
	return &foundOutput{apitypes.FoundEntries{Results: list, Count: len(list)}}, err
}

func forgetEntries(ctx context.Context, c *call, in *forgetInput) (*forgottenOutput, error) {
	collections, caller, err := c.inCollection(ctx, in.CollectionPlace)
	if err != nil {
		return nil, err
	}
	b := in.Body
	done, err := collections.Forget(ctx, caller, host.ForgetEntries{Collection: in.Collection, Namespace: b.Namespace, ID: b.ID, Filter: b.Filter, All: b.All})
	return &forgottenOutput{apitypes.Forgotten(done)}, err
}
