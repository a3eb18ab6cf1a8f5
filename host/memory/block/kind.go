package block

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/schema"
)

// Kind is the kind of stores for blocks.
type Kind struct{}

var _ kind.Kind = Kind{}

// Name implements kind.Kind.
func (Kind) Name() declare.Kind { return declare.KindBlock }

// Operations implements kind.Kind.
func (Kind) Operations() abi.Table { return abi.Blocks() }

// Compile implements kind.Kind.
func (Kind) Compile(decl declare.Store, limits kind.Limits) (kind.Store, error) {
	if decl.Block.Name == "" {
		return nil, errors.New("blocks are declared in the section `blocks` of the app file")
	}
	if decl.Access != declare.ScopeUser || decl.Retention != (declare.Retention{}) || decl.Schema != nil || decl.Block.Name != decl.Name {
		return nil, errors.New("a block belongs to a user; it has no retention and no schema")
	}
	if err := declare.CheckBlock(decl.Block); err != nil {
		return nil, err
	}
	return &store{decl.Block, limits}, nil
}

// store implements kind.Store for one block. It is immutable.
type store struct {
	block  declare.Block
	limits kind.Limits
}

var _ kind.Dated = (*store)(nil)

// Dated implements kind.Dated.
func (st *store) Dated() {}

// Call implements kind.Store.
func (st *store) Call(ctx context.Context, p kind.Partition, call abi.Call) (json.RawMessage, error) {
	switch call.Op {
	case abi.GetBlock:
		return st.get(ctx, p, call.Arg(1))
	case abi.UpdateBlock:
		return st.update(ctx, p, call.Arg(1), call.Arg(2))
	}
	return st.delete(ctx, p, call.Arg(1))
}

// Fits implements kind.Store.
func (st *store) Fits(r storage.Record) bool {
	var content string
	return json.Unmarshal(r.Content, &content) == nil && st.check(content) == nil
}

// Show implements kind.Store. The content of a block's record is a JSON string.
func (st *store) Show(content []byte) json.RawMessage { return content }

// Public implements kind.Store. Blocks have no schema.
func (st *store) Public(string) string { return "" }

// Mistakes implements kind.Store.
func (st *store) Mistakes() schema.Errors { return nil }
