package abi

import "encoding/json"

// Verb is a kind of access that a grant allows.
type Verb string

// The verbs.
const (
	Read   Verb = "read"
	Write  Verb = "write"
	Delete Verb = "delete"
)

// Kind is the format in which an argument is passed to the host.
type Kind string

// The kinds.
const (
	StoreName Kind = "store" // a string that names a store
	JSON      Kind = "json"  // any JSON value
)

// Param is a parameter of an operation. Its JSON contains the fields that a guest needs to pass an
// argument. Type and Doc are only for declarations.
type Param struct {
	Name     string   `json:"name"`
	Aliases  []string `json:"aliases,omitempty"`
	Kind     Kind     `json:"kind"`
	Required bool     `json:"required,omitempty"`

	// Type is the shape of a parameter whose Kind is JSON.
	Type Type `json:"-"`
	// Doc is a noun phrase, such as "the parts of the content to read".
	Doc string `json:"-"`
}

// Operation is a function of the memory API in every language. Its JSON contains the fields that a
// guest needs to create the function. The other fields are only for declarations.
type Operation struct {
	// Name is the operation's name in every language, as in memory.get_content.
	Name string `json:"name"`
	// Verb is the verb that the call requires in a grant.
	Verb Verb `json:"verb"`
	// Params are the parameters in order, at most MaxParams. Only the first one can be the name of
	// a store. If the store is optional, the next parameter is a required text, which replaces the
	// store in calls without one.
	Params []Param `json:"params"`

	// Doc is a predicate whose subject is the operation, such as "returns the content of a store".
	Doc string `json:"-"`
	// Reply is the type of the result, and Variants are the types for certain arguments.
	Reply    Type      `json:"-"`
	Variants []Variant `json:"-"`
}

// MaxParams is the largest number of parameters of an operation.
const MaxParams = 8

// Table is a set of operations, in the order in which guests list them. It must not change once it
// is in use.
type Table []Operation

// Lookup returns the operation with that name, and whether there is one.
func (t Table) Lookup(name string) (Operation, bool) {
	for _, op := range t {
		if op.Name == name {
			return op, true
		}
	}
	return Operation{}, false
}

// Key returns a text for use in cache keys. It differs between two tables if a guest can see a
// difference.
func (t Table) Key() string {
	text, _ := json.Marshal(t) // strings and booleans are always JSON
	return string(text)
}

// Call is one call of an operation by a guest.
type Call struct {
	Op string `json:"op"`
	// Args are JSON texts in the order of the operation's parameters. An argument that is nil or
	// missing is absent.
	Args []json.RawMessage `json:"args"`
}

// Arg returns argument i, or nil if it is absent.
func (c Call) Arg(i int) json.RawMessage {
	if i >= len(c.Args) {
		return nil
	}
	return c.Args[i]
}
