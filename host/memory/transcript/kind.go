// Package transcript implements the kind of store that contains the transcripts of sessions. Each
// record contains messages of one session that sleep-time memory has not processed yet. The item of
// the record is the id of the session. Guests cannot call operations of this kind.
package transcript

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

// Kind is the kind of the store that contains transcripts.
type Kind struct{}

var _ kind.Kind = Kind{}

// Name implements kind.Kind.
func (Kind) Name() declare.Kind { return declare.KindTranscript }

// Operations implements kind.Kind. Operations returns an empty result, because guests cannot access
// the store.
func (Kind) Operations() abi.Table { return nil }

// Compile implements kind.Kind.
func (Kind) Compile(decl declare.Store, _ kind.Limits) (kind.Store, error) {
	if decl.Schema != nil || decl.Access != declare.ScopeUser {
		return nil, errors.New("transcripts have no schema and belong to users")
	}
	return store{}, nil
}

// store is the compiled store.
type store struct{}

var _ kind.Store = store{}

// Call implements kind.Store. Call is never called, because the kind has no operations.
func (store) Call(_ context.Context, _ kind.Partition, call abi.Call) (json.RawMessage, error) {
	return nil, abi.Faultf(abi.InvalidArgument, "transcripts have no operation %s", kind.Quote(call.Op))
}

// Fits implements kind.Store.
func (store) Fits(r storage.Record) bool {
	_, err := Decode(r.Content)
	return err == nil
}

// Show implements kind.Store.
func (store) Show(content []byte) json.RawMessage { return content }

// Public implements kind.Store.
func (store) Public(string) string { return "" }

// Mistakes implements kind.Store.
func (store) Mistakes() schema.Errors { return nil }
