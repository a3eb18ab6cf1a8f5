// Package fact implements facts, which are a kind of store. A fact is a value. A dotted path, such
// as "user.language", identifies the fact. Each fact is stored in a separate record. An app has at
// most one store of facts. The path of a fact determines whether the fact belongs to the user, the
// session or the app.
package fact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/schema"
)

// Kind is the kind of the store that contains facts.
type Kind struct{}

var _ kind.Space = Kind{}

// Name implements kind.Kind.
func (Kind) Name() declare.Kind { return declare.KindFact }

// Space implements kind.Space.
func (Kind) Space() string { return declare.Facts }

// Operations implements kind.Kind.
func (Kind) Operations() abi.Table { return abi.Facts() }

// Compile implements kind.Kind. Compile checks the declared facts.
func (Kind) Compile(decl declare.Store, limits kind.Limits) (kind.Store, error) {
	st := &store{facts: make(map[string]declare.Fact, len(decl.Facts)), limits: limits}
	var errs []error
	for _, f := range decl.Facts {
		if err := check(f, limits); err != nil {
			errs = append(errs, err)
			continue
		}
		if _, twice := st.facts[f.Path]; twice {
			errs = append(errs, fmt.Errorf("the fact %s is declared twice", f.Path))
		}
		st.facts[f.Path] = f
	}
	return st, errors.Join(errs...)
}

// check returns an error if the declaration of a fact is invalid.
func check(f declare.Fact, limits kind.Limits) error {
	if err := declare.CheckFactPath(f.Path); err != nil {
		return err
	}
	if f.TTL < 0 || f.TTL > declare.MaxRetention {
		return fmt.Errorf("the ttl of the fact %s is out of range", f.Path)
	}
	switch f.Scope {
	case "", declare.ScopeUser, declare.ScopeWorkflow, declare.ScopeApplication:
	default:
		return fmt.Errorf("the fact %s has the unknown scope %q", f.Path, f.Scope)
	}
	if f.Type != "" && !slices.Contains(declare.FactTypes(), f.Type) {
		return fmt.Errorf("the fact %s has the unknown type %q", f.Path, f.Type)
	}
	if f.Default == nil {
		return nil
	}
	if err := limits.Check(f.Default); err != nil {
		return fmt.Errorf("the default of the fact %s: %w", f.Path, err)
	}
	if !f.Type.Accepts(f.Default) {
		return fmt.Errorf("the default of the fact %s is not of the type %s", f.Path, f.Type)
	}
	return nil
}

// store implements kind.Store for the declared facts. It is immutable.
type store struct {
	facts  map[string]declare.Fact // by path
	limits kind.Limits
}

var _ kind.Scoped = (*store)(nil)

// Scope implements kind.Scoped.
func (st *store) Scope(path string) declare.Scope {
	if f := st.facts[path]; f.Scope != "" {
		return f.Scope
	}
	return declare.FactScope(path)
}

// domain returns the domain of a fact.
func (st *store) domain(path string) string {
	if f := st.facts[path]; f.Domain != "" {
		return f.Domain
	}
	return declare.FactDomain(path)
}

// Call implements kind.Store.
func (st *store) Call(ctx context.Context, p kind.Partition, call abi.Call) (json.RawMessage, error) {
	if call.Op == abi.ListFacts {
		return st.list(ctx, p, call)
	}
	path, err := pathOf(call.Arg(0))
	if err != nil {
		return nil, err
	}
	reply, err := st.perform(ctx, p, path, call)
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		named := *f
		named.Item = kind.Shorten(path)
		return nil, &named
	}
	return reply, err
}

// perform performs an operation on one fact.
func (st *store) perform(ctx context.Context, p kind.Partition, path string, call abi.Call) (json.RawMessage, error) {
	if err := p.(kind.ScopedPartition).Check(path); err != nil {
		return nil, err
	}
	switch call.Op {
	case abi.GetFact:
		return st.get(ctx, p, path, call.Arg(1))
	case abi.SetFact:
		return st.set(ctx, p, path, call.Arg(1), call.Arg(2))
	}
	return remove(ctx, p, path, call.Arg(1))
}

// pathOf decodes the path of a fact. The path is an argument of a call.
func pathOf(arg json.RawMessage) (string, error) {
	var path string
	if kind.IsAbsent(arg) || json.Unmarshal(arg, &path) != nil {
		return "", abi.Faultf(abi.InvalidArgument, "the path of a fact must be a string, such as \"user.language\"")
	}
	if err := declare.CheckFactPath(path); err != nil {
		return "", abi.Faultf(abi.InvalidArgument, "the text %s is not a path of a fact", kind.Quote(path)).
			WithHint("use at least two names of letters, digits, '_' or '-', separated by dots, such as user.language")
	}
	return path, nil
}

// Fits implements kind.Store.
func (st *store) Fits(r storage.Record) bool {
	return st.facts[kind.Item(r)].Type.Accepts(r.Content)
}

// Show implements kind.Store. The content of a fact's record is the value of the fact as JSON.
func (st *store) Show(content []byte) json.RawMessage { return content }

// Public implements kind.Store. The pointer of a violation is always "", because a violation
// applies to the whole value.
func (st *store) Public(string) string { return "" }

// Mistakes implements kind.Store.
func (st *store) Mistakes() schema.Errors { return nil }
