package memory

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/host/memory/collection"
	"github.com/toolrun/toolrun/host/memory/document"
	"github.com/toolrun/toolrun/host/memory/fact"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/memory/transcript"
	"github.com/toolrun/toolrun/host/memory/variables"
	"github.com/toolrun/toolrun/internal/spell"
	"github.com/toolrun/toolrun/schema"
)

// kinds is the registry of the kinds of stores. The registry is immutable after its creation.
type kinds struct {
	byName map[declare.Kind]kind.Kind
	names  []string // in the order of registration
	table  abi.Table
	// operations maps each operation name to an entry of the operation table.
	operations map[string]operation
}

// newKinds creates a registry. The registry contains documents, facts, blocks, collections, the
// state of agents, and the additional kinds. The returned error lists all mistakes in the kinds.
func newKinds(more []kind.Kind, collections collection.Kind) (*kinds, error) {
	k := &kinds{byName: map[declare.Kind]kind.Kind{}, operations: map[string]operation{}}
	var errs []error
	for _, added := range append([]kind.Kind{document.Kind{}, fact.Kind{}, block.Kind{}, collections, variables.Kind{}, transcript.Kind{}}, more...) {
		errs = append(errs, k.add(added))
	}
	return k, errors.Join(errs...)
}

// add registers a kind.
func (k *kinds) add(added kind.Kind) error {
	if added == nil {
		return errors.New("memory: a kind is nil")
	}
	name := added.Name()
	if name == "" || k.byName[name] != nil {
		return fmt.Errorf("memory: the kind name %q is empty or already registered", name)
	}
	k.byName[name] = added
	if len(added.Operations()) > 0 { // a kind without operations is used only by the host
		k.names = append(k.names, string(name))
	}
	for _, op := range added.Operations() {
		if err := k.addOperation(added, op); err != nil {
			return err
		}
	}
	return nil
}

// noOperation returns the fault of a call whose operation does not exist in the kind of the store.
func (k *kinds) noOperation(st *store, op string) error {
	var names []string
	_, union := k.byName[st.Kind].(kind.Union)
	for _, op := range k.byName[st.Kind].Operations() {
		if namesStore(op) || !union {
			names = append(names, op.Name)
		}
	}
	f := abi.Faultf(abi.InvalidArgument, "the store %q of kind %s does not support the operation %s", st.Name, st.Kind, op)
	if st.Kind == declare.KindBlock {
		f = abi.Faultf(abi.InvalidArgument, "the block %q does not support the operation %s", st.Name, op)
	}
	if len(names) == 0 {
		return f.WithHint("only the host can write to this store")
	}
	return f.WithHint("use an operation of the store: %s", strings.Join(names, ", "))
}

// CheckOperation returns a fault if the operation does not exist in the kind of a declared store.
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

// compile checks a declaration and lets the kind of the declaration compile it.
func (k *kinds) compile(decl declare.Store, limits kind.Limits) (*store, error) {
	if err := declare.CheckName(decl.Name); err != nil && !builtIn(decl) {
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
	case declare.ScopeByItem: // checks that the kind supports this access
	default:
		return nil, fmt.Errorf("unknown access %q: use \"session\", \"user\" or \"application\"", decl.Access)
	}
	if decl.Retention.For < 0 || decl.Retention.For > declare.MaxRetention {
		return nil, errors.New("the retention is out of range")
	}
	compiled, err := of.Compile(decl, limits)
	if err != nil {
		return nil, err
	}
	if _, scoped := compiled.(kind.Scoped); scoped != (decl.Access == declare.ScopeByItem) {
		return nil, fmt.Errorf("the kind %q does not support the access %q", decl.Kind, decl.Access)
	}
	_, dated := compiled.(kind.Dated)
	return &store{Store: decl, compiled: compiled, dated: dated}, nil
}

// builtIn reports whether a declaration belongs to a built-in store or to a block. For built-in
// stores and blocks, different rules for names apply. Built-in stores and blocks do not count as
// stores of the app.
func builtIn(decl declare.Store) bool {
	switch decl.Kind {
	case declare.KindFact:
		return decl.Name == declare.Facts
	case declare.KindVariables:
		return decl.Name == declare.Agents
	case declare.KindBlock:
		return true
	case declare.KindTranscript:
		return decl.Name == declare.Transcripts
	}
	return false
}

func (k *kinds) unknown(name declare.Kind) error {
	if near := spell.Name(string(name), k.names); near != "" {
		return fmt.Errorf("unknown kind %q: did you mean %q?", name, near)
	}
	return fmt.Errorf("unknown kind %q: use %s", name, strings.Join(k.names, ", "))
}

// Operations returns the operation table of a Service without Config.Kinds. See Service.Operations.
func Operations() abi.Table {
	k, _ := newKinds(nil, collection.Kind{})
	return k.table
}

// Mistakes returns the parts of a declaration that resemble constraints but have no effect.
// Mistakes returns an error if the declaration does not compile. The argument "more" contains
// additional kinds. Documents are always registered.
func Mistakes(st declare.Store, more ...kind.Kind) (schema.Errors, error) {
	k, err := newKinds(more, collection.Kind{})
	if err != nil {
		return nil, err
	}
	compiled, err := k.compile(st, Limits{}.withDefaults().content())
	if err != nil {
		return nil, err
	}
	return compiled.compiled.Mistakes(), nil
}

// CheckStrict returns a fault if the declaration of a strict store has mistakes. Use CheckStrict
// only for new declarations, because an app with a stored declaration must open even if the
// declaration has mistakes.
func CheckStrict(st declare.Store, more ...kind.Kind) error {
	if !st.Strict {
		return nil
	}
	mistakes, err := Mistakes(st, more...)
	mistakes = slices.DeleteFunc(mistakes, func(e *schema.Error) bool { return e.Harmless })
	if err != nil || len(mistakes) == 0 {
		return err
	}
	f := abi.Faultf(abi.InvalidArgument, "the schema of the strict store %q is invalid: %v", st.Name, mistakes)
	if hint := mistakes[0].Hint; hint != "" {
		return f.WithHint("%s", hint)
	}
	return f
}
