package memory

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/document"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/internal/spell"
	"github.com/toolrun/toolrun/schema"
)

// kinds is the registry of the kinds of stores. It does not change once it is made.
type kinds struct {
	byName map[declare.Kind]kind.Kind
	names  []string // in the order of registration
	table  abi.Table
	// operations are the entries of the table by name.
	operations map[string]operation
}

// newKinds registers documents and more kinds. Its error names every mistake.
func newKinds(more []kind.Kind) (*kinds, error) {
	k := &kinds{byName: map[declare.Kind]kind.Kind{}, operations: map[string]operation{}}
	var errs []error
	for _, one := range append([]kind.Kind{document.Kind{}}, more...) {
		errs = append(errs, k.add(one))
	}
	return k, errors.Join(errs...)
}

func (k *kinds) add(one kind.Kind) error {
	if one == nil {
		return errors.New("memory: one of the kinds is nil")
	}
	name := one.Name()
	if name == "" || k.byName[name] != nil {
		return fmt.Errorf("memory: the kind %q has no name, or that of another kind", name)
	}
	k.byName[name], k.names = one, append(k.names, string(name))
	for _, op := range one.Operations() {
		if err := k.addOperation(one, op); err != nil {
			return err
		}
	}
	return nil
}

// noOperation returns the fault of an operation that stores of another kind have.
func (k *kinds) noOperation(st *store, op string) error {
	var names []string
	for _, op := range k.byName[st.Kind].Operations() {
		names = append(names, op.Name)
	}
	return abi.Faultf(abi.InvalidArgument, "the store %q is of the kind %s, which has no operation %s", st.Name, st.Kind, op).
		WithHint("its operations are: %s", strings.Join(names, ", "))
}

// CheckOperation returns a fault if calls that name a declared store cannot use an operation of the table, because the kind
// of the store lacks it.
func (s *Service) CheckOperation(name, op string) error {
	st := s.stores[name]
	if name == declare.SessionMeta {
		st = s.meta
	}
	entry, known := s.kinds.operations[op]
	if st == nil || !known {
		return nil
	}
	return s.kinds.checkKind(entry, op, st, false)
}

// compile checks a declaration, and compiles it by its kind.
func (k *kinds) compile(decl declare.Store, limits kind.Limits) (*store, error) {
	if err := declare.CheckName(decl.Name); err != nil {
		return nil, err
	}
	if decl.Kind == "" {
		decl.Kind = declare.KindDocument
	}
	of := k.byName[decl.Kind]
	if of == nil {
		return nil, k.unknown(decl.Kind)
	}
	switch decl.Access {
	case declare.ScopeSession, declare.ScopeUser, declare.ScopeApplication:
	default:
		return nil, fmt.Errorf("unknown access %q: it takes session, user or application", decl.Access)
	}
	if decl.Retention.For < 0 || decl.Retention.For > declare.MaxRetention {
		return nil, errors.New("the retention is out of range")
	}
	compiled, err := of.Compile(decl, limits)
	if err != nil {
		return nil, err
	}
	return &store{Store: decl, compiled: compiled}, nil
}

func (k *kinds) unknown(name declare.Kind) error {
	if near := spell.Name(string(name), k.names); near != "" {
		return fmt.Errorf("unknown kind %q: did you mean %q?", name, near)
	}
	return fmt.Errorf("unknown kind %q: it takes %s", name, strings.Join(k.names, ", "))
}

// Operations returns the table of the operations that guests have without Config.Kinds. Those of a Service are
// Service.Operations.
func Operations() abi.Table {
	k, _ := newKinds(nil)
	return k.table
}

// Mistakes returns what the declaration of a store seems to check and does not. The error is that of a declaration that does
// not compile. More are the kinds besides documents.
func Mistakes(st declare.Store, more ...kind.Kind) (schema.Errors, error) {
	k, err := newKinds(more)
	if err != nil {
		return nil, err
	}
	compiled, err := k.compile(st, Limits{}.withDefaults().content())
	if err != nil {
		return nil, err
	}
	return compiled.compiled.Mistakes(), nil
}

// CheckStrict refuses a strict store whose declaration has mistakes. A declaration that is new is held to that; one that is
// kept is opened as it is.
func CheckStrict(st declare.Store, more ...kind.Kind) error {
	if !st.Strict {
		return nil
	}
	mistakes, err := Mistakes(st, more...)
	mistakes = slices.DeleteFunc(mistakes, func(e *schema.Error) bool { return e.Harmless })
	if err != nil || len(mistakes) == 0 {
		return err
	}
	f := abi.Faultf(abi.InvalidArgument, "the schema of the strict store %q has mistakes: %v", st.Name, mistakes)
	if hint := mistakes[0].Hint; hint != "" {
		return f.WithHint("%s", hint)
	}
	return f
}
