package collection

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/search"
	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/schema"
)

// Kind is the kind of store that contains collections.
type Kind struct {
	// Index contains the indexes of the namespaces. Index is required for the operation "recall".
	Index *index.Set
}

var _ kind.Kind = Kind{}

// Name implements kind.Kind.
func (Kind) Name() declare.Kind { return declare.KindCollection }

// Operations implements kind.Kind.
func (Kind) Operations() abi.Table { return abi.Collections() }

// Compile implements kind.Kind.
func (k Kind) Compile(decl declare.Store, limits kind.Limits) (kind.Store, error) {
	switch {
	case decl.Schema != nil || decl.Strict:
		return nil, errors.New("collections have no schema")
	case decl.Collection.Auto && decl.Access != declare.ScopeApplication:
		return nil, errors.New("a collection without a declaration belongs to the app")
	}
	if err := declare.CheckCollection(decl.Collection, decl.Access); err != nil {
		return nil, err
	}
	if _, err := search.FindLanguage(decl.Collection.Language); err != nil {
		return nil, err
	}
	return &store{name: decl.Name, collection: decl.Collection.WithDefaults(), retention: decl.Retention.For, limits: limits, index: k.Index}, nil
}

// store implements kind.Store for one collection. It is immutable.
type store struct {
	name       string
	collection declare.Collection
	retention  time.Duration // 0 means no limit
	limits     kind.Limits
	index      *index.Set
}

var _ kind.Completer = (*store)(nil)

// Call implements kind.Store.
func (st *store) Call(ctx context.Context, p kind.Partition, call abi.Call) (json.RawMessage, error) {
	spaces := p.(kind.NamespacedPartition)
	switch call.Op {
	case abi.Remember:
		return st.remember(ctx, spaces, call.Arg(1), call.Arg(2))
	case abi.Recall:
		return st.recall(ctx, spaces, call.Arg(1), call.Arg(2))
	}
	return st.forget(ctx, spaces, call.Arg(1))
}

// Fits implements kind.Store.
func (st *store) Fits(r storage.Record) bool {
	_, err := decode(r.Content)
	return err == nil
}

// Show implements kind.Store. Show omits the vector.
func (st *store) Show(content []byte) json.RawMessage {
	e, err := decode(content)
	if err != nil {
		return json.RawMessage("null")
	}
	return e.text
}

// Public implements kind.Store. Collections have no schema.
func (st *store) Public(string) string { return "" }

// Mistakes implements kind.Store.
func (st *store) Mistakes() schema.Errors { return nil }
