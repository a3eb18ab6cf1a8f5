// Package document implements documents, which are a kind of store. A store contains one JSON
// document for each user, session or app. The operation "get_content" returns the document or a
// projection of the document. The operation "set_content" merges a value into the document. The
// operation "delete_content" removes the document.
package document

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/schema"
)

// Kind is the kind of store that contains documents.
type Kind struct{}

var _ kind.Kind = Kind{}

// Name implements kind.Kind.
func (Kind) Name() declare.Kind { return declare.KindDocument }

// Operations implements kind.Kind.
func (Kind) Operations() abi.Table { return abi.Documents() }

// Compile implements kind.Kind. Compile compiles the schema.
func (Kind) Compile(decl declare.Store, limits kind.Limits) (kind.Store, error) {
	st := &store{decl: decl, limits: limits}
	if decl.Schema == nil {
		return st, nil
	}
	compiled, err := schema.Compile(decl.Schema, schema.Options{Strict: decl.Strict})
	if err != nil {
		return nil, err
	}
	st.schema, st.anyRoot = compiled, allowsAnyRoot(decl.Schema)
	return st, nil
}

// allowsAnyRoot reports whether the schema allows contents that are not objects. allowsAnyRoot
// checks only the type at the root of the schema.
func allowsAnyRoot(text json.RawMessage) bool {
	var root struct{ Type any }
	if json.Unmarshal(text, &root) != nil {
		return false
	}
	switch t := root.Type.(type) {
	case string:
		return t != "object"
	case []any:
		return len(t) > 1 || len(t) == 1 && t[0] != "object"
	}
	return false
}

// store contains a declaration and its compiled schema.
type store struct {
	decl   declare.Store
	limits kind.Limits
	schema *schema.Schema // nil if the store has no schema
	// The field anyRoot is true if the schema allows contents that are not objects.
	anyRoot bool
}

// Call implements kind.Store.
func (st *store) Call(ctx context.Context, p kind.Partition, call abi.Call) (json.RawMessage, error) {
	switch call.Op {
	case abi.GetContent:
		return st.get(ctx, p, call)
	case abi.SetContent:
		return st.set(ctx, p, call)
	}
	return st.delete(ctx, p, call)
}

// Fits implements kind.Store.
func (st *store) Fits(r storage.Record) bool {
	value, err := kind.Decode(r.Content)
	return err == nil && (st.schema == nil || len(st.schema.Validate(value)) == 0)
}

// Show implements kind.Store. Documents are stored as JSON.
func (st *store) Show(content []byte) json.RawMessage { return content }

// Public implements kind.Store. In the pointer, Public replaces each name that does not occur in
// the schema.
func (st *store) Public(pointer string) string {
	if st.schema == nil {
		return ""
	}
	return st.schema.Public(pointer)
}

// Mistakes implements kind.Store with the result of schema.Schema.Mistakes.
func (st *store) Mistakes() schema.Errors {
	if st.schema == nil {
		return nil
	}
	return st.schema.Mistakes()
}
