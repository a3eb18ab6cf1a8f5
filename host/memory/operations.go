package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
)

// operation is an entry of the operation table. The entry lists the kinds that have the operation.
type operation struct {
	verb abi.Verb
	// stores lists the kinds for which a call contains the name of the store.
	stores []declare.Kind
	// space is the kind for which a call does not contain the name of the store, or "" if every
	// call contains the name. A call that omits the name uses the store spaceStore. If spaceStore
	// is "", the call uses all stores of the kind.
	space      declare.Kind
	spaceStore string
}

// noun returns the word that faults use for a store of the operation. The word is "block" or
// "store". The word depends only on the operation. Therefore a fault about a store without a grant
// does not reveal the kind of the store.
func (o operation) noun() string {
	if len(o.stores) > 0 && !slices.ContainsFunc(o.stores, func(k declare.Kind) bool { return k != declare.KindBlock }) {
		return "block"
	}
	return "store"
}

// addOperation adds an operation of a kind to the operation table. Kinds can share an operation.
func (k *kinds) addOperation(of kind.Kind, op abi.Operation) error {
	spaceStore := ""
	if s, ok := of.(kind.Space); ok {
		spaceStore = s.Space()
	}
	_, union := of.(kind.Union)
	if err := checkOperation(op, spaceStore != "" || union); err != nil {
		return err
	}
	entry, known := k.operations[op.Name]
	if !known {
		k.table = append(k.table, op)
	} else if err := k.merge(entry, of.Name(), op); err != nil {
		return err
	}
	entry.verb = op.Verb
	if namesStore(op) {
		entry.stores = append(entry.stores, of.Name())
	} else {
		entry.space, entry.spaceStore = of.Name(), spaceStore
	}
	k.operations[op.Name] = entry
	return nil
}

// namesStore reports whether the first parameter of an operation is the name of a store.
func namesStore(op abi.Operation) bool {
	return len(op.Params) > 0 && op.Params[0].Kind == abi.StoreName
}

// checkOperation returns an error if a kind declares a forbidden operation. If the argument
// "storeless" is true, the operations of the kind do not need a store parameter.
func checkOperation(op abi.Operation, storeless bool) error {
	if len(op.Params) > abi.MaxParams {
		return fmt.Errorf("memory: the operation %s has %d parameters; the limit is %d", op.Name, len(op.Params), abi.MaxParams)
	}
	for i, p := range op.Params {
		if p.Kind == abi.StoreName && (i > 0 || !p.Required) {
			return fmt.Errorf("memory: the first parameter of the operation %s must be a required store", op.Name)
		}
	}
	if !namesStore(op) && !storeless {
		return fmt.Errorf("memory: the operation %s must have a store parameter, because its kind implements neither kind.Space nor kind.Union", op.Name)
	}
	return nil
}

// merge is used if another kind already has the operation. merge merges the operation into the
// existing entry of the table. All kinds with an operation share one entry, because tool code has
// one function for these kinds. The parameters after the store parameter must be the same in both
// kinds. If one of these kinds has no store parameter, the store becomes optional.
func (k *kinds) merge(entry operation, name declare.Kind, op abi.Operation) error {
	at := slices.IndexFunc(k.table, func(other abi.Operation) bool { return other.Name == op.Name })
	listed := k.table[at]
	other := entry.space
	if len(entry.stores) > 0 {
		other = entry.stores[0]
	}
	refuse := func(why string) error {
		return fmt.Errorf("memory: the kinds %q and %q both have the operation %s, %s", other, name, op.Name, why)
	}
	after := paramsAfterStore(op)
	switch {
	case entry.space == name || slices.Contains(entry.stores, name):
		return fmt.Errorf("memory: the kind %q has the operation %s twice", name, op.Name)
	case listed.Verb != op.Verb || !slices.EqualFunc(paramsAfterStore(listed), after, sameParam):
		return refuse("with different verbs or parameters")
	case !namesStore(op) && entry.space != "":
		return refuse("without a store")
	case namesStore(op) && len(entry.stores) > 0:
		if !sameName(listed.Params[0], op.Params[0]) {
			return refuse("with different names for the store parameter")
		}
		return nil
	case len(after) == 0 || !after[0].Required || after[0].Type.Shape != abi.Text:
		return refuse("but only one of the kinds has a store parameter; in the other kind, the first parameter of the operation must be a required text")
	}
	forms := append(slices.Clone(listed.AllForms()), op)
	if namesStore(op) {
		listed = op
	}
	listed.Forms = forms
	listed.Params = slices.Clone(listed.Params) // a copy, because the parameters of the kind must not change
	listed.Params[0].Required = false
	k.table[at] = listed
	return nil
}

// paramsAfterStore returns all parameters of an operation except the store.
func paramsAfterStore(op abi.Operation) []abi.Param {
	if namesStore(op) {
		return op.Params[1:]
	}
	return op.Params
}

// sameParam reports whether two parameters are the same for tool code.
func sameParam(a, b abi.Param) bool {
	return sameName(a, b) && a.Kind == b.Kind && a.Required == b.Required
}

func sameName(a, b abi.Param) bool { return a.Name == b.Name && slices.Equal(a.Aliases, b.Aliases) }

// target is the store that a call uses.
type target struct {
	// name is the name of the store. If the call omits the store and the operation acts on all
	// stores of its kind, the name is "".
	name string
	// implied is true if the call omits the name of the store.
	implied bool
	// call contains the arguments. The order of the arguments is the order of the parameters in the
	// declaration of the store's kind.
	call abi.Call
}

// resolve finds the store that a call uses.
func (o operation) resolve(call abi.Call) (target, error) {
	if o.space != "" {
		if args, ok := o.argsWithoutStore(call.Args); ok {
			return target{name: o.spaceStore, implied: true, call: abi.Call{Op: call.Op, Args: args}}, nil
		}
	}
	name, err := storeName(call.Arg(0))
	return target{name: name, call: call}, err
}

// argsWithoutStore expects that the call omits the name of the store, and returns the arguments of
// the call. If the store parameter is optional, the next parameter is a required text. Therefore,
// if a call begins with fewer than two texts, the call omits the store. The first argument is then
// the required text.
func (o operation) argsWithoutStore(args []json.RawMessage) (own []json.RawMessage, ok bool) {
	switch {
	case len(o.stores) == 0 || len(args) == 0:
		return args, true
	case kind.IsAbsent(args[0]):
		return args[1:], true
	case len(args) > 1 && kind.IsAbsent(args[1]): // the second text is missing
		return slices.Delete(slices.Clone(args), 1, 2), true
	}
	return args, len(args) == 1 || !bytes.HasPrefix(bytes.TrimSpace(args[1]), []byte(`"`))
}

// checkKind returns a fault if the operation of a call does not exist in the kind of the store.
func (k *kinds) checkKind(o operation, op string, st *store, implied bool) error {
	switch {
	case implied && st.Kind == o.space, !implied && slices.Contains(o.stores, st.Kind):
		return nil
	case !implied && st.Kind == o.space:
		return abi.Faultf(abi.InvalidArgument, "the operation %s does not accept the name of a store of kind %s", op, st.Kind).
			WithHint("omit the store name")
	}
	return k.noOperation(st, op)
}

// StoreOf returns the name of the store that a call uses. If the call is malformed, StoreOf returns
// "". The store does not have to exist.
func (s *Service) StoreOf(call abi.Call) string {
	op, ok := s.kinds.operations[call.Op]
	if !ok {
		return ""
	}
	to, _ := op.resolve(call)
	return to.name
}
