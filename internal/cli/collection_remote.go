package cli

import (
	"bytes"
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

var _ collectionBackend = remoteCollections{}

// remoteCollections reads and writes the collections of an app at a server.
type remoteCollections struct{ client *client.Client }

// Describe describes the collections.
func (r remoteCollections) Describe(ctx context.Context, _ host.Caller) ([]memory.CollectionDetails, error) {
	list, err := r.client.Collections().List(ctx)
	found := []memory.CollectionDetails{}
	for _, d := range list {
		var moving *memory.MoveTarget
		if d.MovingTo != nil {
			moving = &memory.MoveTarget{Embedder: d.MovingTo.Embedder, Dim: d.MovingTo.Dimension}
		}
		found = append(found, memory.CollectionDetails{
			CollectionInfo: memory.CollectionInfo{Name: d.Name, Declared: d.Declared, Embedder: d.Embedder, Dim: d.Dimension, MovingTo: moving},
			Access:         d.Access, Retention: d.Retention, Language: d.Language, Erase: d.Erase, Embedding: d.Embedding,
			Entries: d.Entries, Bytes: d.Bytes, Namespaces: d.Namespaces, More: d.More,
		})
	}
	return found, err
}

// List returns a page of entries.
func (r remoteCollections) List(ctx context.Context, c host.Caller, q memory.EntryQuery) (found []memory.Entry, next string, err error) {
	page, err := r.client.Collections().Entries(ctx, callerOf(c), q.Collection, client.EntryQuery{
		Namespace: q.Namespace, PageQuery: client.PageQuery{After: q.After, Limit: q.Limit},
	})
	if err != nil {
		return nil, "", err
	}
	for _, e := range page.Items {
		found = append(found, memory.Entry(e))
	}
	return found, page.Next, nil
}

// Get returns an entry, or nil if the entry does not exist.
func (r remoteCollections) Get(ctx context.Context, c host.Caller, name, namespace, id string) (*memory.Entry, error) {
	found, err := r.client.Collections().Entry(ctx, callerOf(c), name, namespace, id)
	if f, ok := errors.AsType[*client.Error](err); ok && f.Fault.Code == abi.NotFound && f.Fault.Hint == "" { // the collection exists
		return nil, nil
	}
	return (*memory.Entry)(found), err
}

// Remember stores entries.
func (r remoteCollections) Remember(ctx context.Context, c host.Caller, name string, entries ...host.NewEntry) ([]host.Remembered, error) {
	sent := []apitypes.NewEntry{}
	for _, e := range entries {
		sent = append(sent, apitypes.NewEntry(e))
	}
	stored, err := r.client.Collections().Remember(ctx, callerOf(c), name, sent...)
	remembered := []host.Remembered{}
	for _, e := range stored {
		remembered = append(remembered, host.Remembered(e))
	}
	return remembered, err
}

// Recall searches a namespace.
func (r remoteCollections) Recall(ctx context.Context, c host.Caller, q host.RecallEntries) ([]host.RecalledEntry, error) {
	list, err := r.client.Collections().Recall(ctx, callerOf(c), q.Collection, apitypes.EntrySearch{
		Query: q.Query, Namespace: q.Namespace, Limit: q.Limit, Threshold: q.Threshold, Filter: q.Filter, Mode: q.Mode, Scores: q.Scores,
	})
	found := []host.RecalledEntry{}
	for _, e := range list {
		found = append(found, host.RecalledEntry(e))
	}
	return found, err
}

// Forget removes entries.
func (r remoteCollections) Forget(ctx context.Context, c host.Caller, s host.ForgetEntries) (host.Forgotten, error) {
	done, err := r.client.Collections().Forget(ctx, callerOf(c), s.Collection, apitypes.EntrySelector{Namespace: s.Namespace, ID: s.ID, Filter: s.Filter, All: s.All})
	if err != nil {
		return host.Forgotten{}, err
	}
	return host.Forgotten(*done), nil
}

// ImportFile uploads a file.
func (r remoteCollections) ImportFile(ctx context.Context, c host.Caller, name string, f documentFile) (apitypes.ImportedFile, error) {
	done, err := r.client.Collections().ImportFile(ctx, callerOf(c), name, f.name, "", bytes.NewReader(f.content), f.query)
	if err != nil {
		return apitypes.ImportedFile{}, err
	}
	return *done, nil
}

// ReembedStep recomputes vectors of entries at the server. A call of ReembedStep takes about five
// seconds.
func (r remoteCollections) ReembedStep(ctx context.Context, _ host.Caller, name string) (host.Reembedding, error) {
	state, err := r.client.Collections().Reembed(ctx, name)
	if err != nil {
		return host.Reembedding{}, err
	}
	return host.Reembedding{Embedder: state.Embedder, Dim: state.Dimension, Moved: state.Moved, Done: state.Done}, nil
}
