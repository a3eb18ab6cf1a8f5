package abi

import (
	"encoding/json"
	"slices"
	"strings"
)

// Verb is a kind of access, such as read, that a grant can allow.
type Verb string

// The verbs.
const (
	Read   Verb = "read"
	Write  Verb = "write"
	Delete Verb = "delete"
)

// Kind is the format in which a guest passes an argument to the host.
type Kind string

// The kinds.
const (
	StoreName Kind = "store" // a string that names a store
	JSON      Kind = "json"  // any JSON value
)

// Param is a parameter of an operation. The JSON encoding of a Param contains only the fields that
// a guest needs at run time. Bindings use Type and Doc for their declarations.
type Param struct {
	Name     string   `json:"name"`
	Aliases  []string `json:"aliases,omitempty"`
	Kind     Kind     `json:"kind"`
	Required bool     `json:"required,omitempty"`
	// Strict lists members of the argument that must not be undefined, in languages that have the
	// value undefined. If a member were undefined, JSON would omit it, so the call would select
	// more than its author intended. If a member is listed, all members inside of it are also
	// included. A name with the suffix ".*" lists only the members inside of the named member.
	Strict []string `json:"strict,omitempty"`

	// Type is the type of the argument if Kind is JSON.
	Type Type `json:"-"`
	// Doc is a noun phrase, such as "the parts of the content to read".
	Doc string `json:"-"`
}

// Rejects reports whether the member at a path in the argument must not be undefined. The first element
// of the path is a member of the argument.
func (p Param) Rejects(path ...string) bool {
	for _, listed := range p.Strict {
		name, inside := strings.CutSuffix(listed, ".*")
		if len(path) > 0 && path[0] == name && (!inside || len(path) > 1) {
			return true
		}
	}
	return false
}

// Operation is a function that a guest can call. The JSON encoding of an Operation contains only
// the fields that a guest needs at run time to create the function. Bindings use the other fields
// for their declarations.
type Operation struct {
	// Name is the unique name of the operation. If the module is not MemoryModule, the name begins
	// with the name of the module, as in "model_chat".
	Name string `json:"name"`
	// Module is the module of the guest's function. Default: MemoryModule.
	Module string `json:"module,omitempty"`
	// External reports whether the operation leaves the host. While the answer is pending, the run
	// waits. In languages with promises, a run can wait for several answers at the same time.
	External bool `json:"external,omitempty"`
	// Verb is the verb that a grant on a store must allow for a call. If an operation uses no
	// store, Verb is "".
	Verb Verb `json:"verb,omitempty"`
	// Params lists the parameters in order, at most MaxParams. Only the first parameter can be a
	// store name. If the store name is optional, the next parameter must be a required string, and
	// a call without a store name can pass this string as its first argument.
	Params []Param `json:"params"`

	// Doc is a predicate whose subject is the operation, such as "returns the content of a store".
	Doc string `json:"-"`
	// Reply is the type of the reply. Variants lists the replies for certain arguments.
	Reply    Type      `json:"-"`
	Variants []Variant `json:"-"`
	// Forms contains the forms of the operation if several operations share the name. The forms
	// differ in their parameters and replies. Bindings declare each form. Params contains the
	// parameters of all forms.
	Forms []Operation `json:"-"`
}

// MemoryModule is the module of the operations on memory.
const MemoryModule = "memory"

// ModuleName returns the name of the module of the operation.
func (o Operation) ModuleName() string {
	if o.Module == "" {
		return MemoryModule
	}
	return o.Module
}

// Function returns the name of the operation's function in its module, in every language. In
// JavaScript, for example, "get_content" is memory.get_content, and "model_chat" is model.chat.
func (o Operation) Function() string {
	if o.Module == "" {
		return o.Name
	}
	return strings.TrimPrefix(o.Name, o.Module+"_")
}

// MaxParams is the maximum number of parameters of an operation.
const MaxParams = 8

// AllForms returns the forms of the operation. If an operation has no Forms, the operation itself
// is its only form.
func (o Operation) AllForms() []Operation {
	if len(o.Forms) > 0 {
		return o.Forms
	}
	return []Operation{o}
}

// Table is a list of operations. The operations of a Table are in the order in which guests list
// the operations. Callers must not modify a Table that is in use.
type Table []Operation

// Lookup returns the operation with the given name and reports whether it exists.
func (t Table) Lookup(name string) (Operation, bool) {
	for _, op := range t {
		if op.Name == name {
			return op, true
		}
	}
	return Operation{}, false
}

// Modules returns the names of the modules, in the order of the table.
func (t Table) Modules() []string {
	var names []string
	for _, op := range t {
		if name := op.ModuleName(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Of returns the operations of a module.
func (t Table) Of(module string) Table {
	var own Table
	for _, op := range t {
		if op.ModuleName() == module {
			own = append(own, op)
		}
	}
	return own
}

// Key returns a string for cache keys. Two tables have the same key only if a guest cannot
// distinguish them.
func (t Table) Key() string {
	text, _ := json.Marshal(t) // strings and booleans can always be encoded as JSON
	return string(text)
}

// Call is one call from a guest to an operation.
type Call struct {
	Op string `json:"op"`
	// Args contains the arguments as JSON, in the order of the operation's parameters. An argument
	// is absent if it is nil or beyond the end of Args.
	Args []json.RawMessage `json:"args"`
}

// Arg returns the argument with index i, or nil if it is absent.
func (c Call) Arg(i int) json.RawMessage {
	if i >= len(c.Args) {
		return nil
	}
	return c.Args[i]
}
