package client

import (
	"context"
	"io"
	"iter"
	"net/http"
	"strconv"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Collections is a handle for collections. Writes require an operator's credentials. If a
// collection has the access "user", its entries belong to Caller.User. Collections is safe for
// concurrent use.
type Collections struct{ client *Client }

// Collections returns the handle for collections.
func (c *Client) Collections() Collections { return Collections{c} }

// newCollectionRequest returns a request for entries of the caller.
func newCollectionRequest(method string, caller Caller, name string, path ...string) *request {
	return newRequest(method, append([]string{"collections", name}, path...)...).set("user_id", caller.User).set("session_id", caller.Session)
}

// List describes all collections.
func (h Collections) List(ctx context.Context) ([]apitypes.Collection, error) {
	list, err := fetch[apitypes.List[apitypes.Collection]](ctx, h.client, newRequest(http.MethodGet, "collections"))
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Get describes a collection.
func (h Collections) Get(ctx context.Context, name string) (*apitypes.Collection, error) {
	return fetch[apitypes.Collection](ctx, h.client, newRequest(http.MethodGet, "collections", name))
}

// EntryQuery selects entries of a collection. The zero value selects the first page of all
// namespaces.
type EntryQuery struct {
	// Namespace selects one namespace, or all namespaces if it is nil. The Namespace "" is the
	// default namespace.
	Namespace *string
	PageQuery
}

// Entries returns a page of the entries of a collection. If the caller has a user or a session, the
// page contains only entries of this user or session, and entries of the app.
func (h Collections) Entries(ctx context.Context, caller Caller, name string, q EntryQuery) (*apitypes.List[apitypes.Entry], error) {
	r := newCollectionRequest(http.MethodGet, caller, name, "entries").set("after", q.After).set("limit", number(q.Limit))
	if q.Namespace != nil && *q.Namespace == "" {
		r.set("default_namespace", strconv.FormatBool(true))
	} else if q.Namespace != nil {
		r.set("namespace", *q.Namespace)
	}
	return fetch[apitypes.List[apitypes.Entry]](ctx, h.client, r)
}

// AllEntries iterates over the entries that a query selects, page by page. An error ends the
// iteration.
func (h Collections) AllEntries(ctx context.Context, caller Caller, name string, q EntryQuery) iter.Seq2[apitypes.Entry, error] {
	return pages(func(after string) (*apitypes.List[apitypes.Entry], error) {
		q.After = after
		return h.Entries(ctx, caller, name, q)
	}, q.After)
}

// Entry reads an entry. The namespace "" is the default namespace. If the entry does not exist, the
// error is abi.NotFound.
func (h Collections) Entry(ctx context.Context, caller Caller, name, namespace, id string) (*apitypes.Entry, error) {
	return fetch[apitypes.Entry](ctx, h.client, newCollectionRequest(http.MethodGet, caller, name, "entry").set("namespace", namespace).set("id", id))
}

// Remember stores at most 100 entries in one transaction. If an entry with the same id exists, the
// new entry replaces it.
func (h Collections) Remember(ctx context.Context, caller Caller, name string, entries ...apitypes.NewEntry) ([]apitypes.StoredEntry, error) {
	stored, err := fetchWith[apitypes.StoredEntries](ctx, h.client, newCollectionRequest(http.MethodPost, caller, name, "entries"), apitypes.NewEntries{Entries: entries})
	if err != nil {
		return nil, err
	}
	return stored.Entries, nil
}

// Recall searches one namespace of a collection and returns the entries that match the query best.
func (h Collections) Recall(ctx context.Context, caller Caller, name string, search apitypes.EntrySearch) ([]apitypes.FoundEntry, error) {
	r := newCollectionRequest(http.MethodPost, caller, name, "recall")
	r.repeatable = true // it is read-only
	found, err := fetchWith[apitypes.FoundEntries](ctx, h.client, r, search)
	if err != nil {
		return nil, err
	}
	return found.Results, nil
}

// Forget removes entries. One request removes at most 500 entries. If More is true, call Forget
// again to remove further entries.
func (h Collections) Forget(ctx context.Context, caller Caller, name string, selector apitypes.EntrySelector) (*apitypes.Forgotten, error) {
	return fetchWith[apitypes.Forgotten](ctx, h.client, newCollectionRequest(http.MethodPost, caller, name, "forget"), selector)
}

// Reembed moves entries of a collection to the embedding model that the app declares, for about
// five seconds. Call Reembed again until Done is true. The progress is stored, so a call after an
// error continues the work.
func (h Collections) Reembed(ctx context.Context, name string) (*apitypes.Reembedding, error) {
	return fetch[apitypes.Reembedding](ctx, h.client, newRequest(http.MethodPost, "collections", name, "reembed"))
}

// ImportFile imports a PDF, DOCX, TXT, Markdown or JSON file, whose text becomes entries of the
// collection. The content is streamed, and the service does not store the file. If the name of the
// file has an extension, the media type can be "". The source identifies the file, and its default
// is the name of the file. A second import from the same source replaces the entries of the first
// import.
func (h Collections) ImportFile(ctx context.Context, caller Caller, collection, name, mediaType string, content io.Reader, q apitypes.ImportQuery) (*apitypes.ImportedFile, error) {
	r := newCollectionRequest(http.MethodPost, caller, collection, "files").
		set("source", q.Source).set("namespace", q.Namespace).set("metadata", q.Metadata).set("ttl", q.TTL)
	var err error
	if r.stream, r.media, err = form(name, mediaType, content); err != nil {
		return nil, err
	}
	return fetch[apitypes.ImportedFile](ctx, h.client, r)
}
