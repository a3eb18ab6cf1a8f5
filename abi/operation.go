package abi

import "encoding/json"

// Verb is what a grant allows: to read, to write or to delete.
type Verb string

// The verbs. "readwrite" in a file means all three.
const (
	Read   Verb = "read"
	Write  Verb = "write"
	Delete Verb = "delete"
)

// Kind says what a parameter holds.
type Kind string

// The kinds of parameters.
const (
	StoreName Kind = "store" // a string that names a store
	JSON      Kind = "json"  // any JSON value
)

// Param is a parameter of an operation. Guests pass it by its place or, where the language has keyword
// arguments, by its name or one of its aliases.
type Param struct {
	Name     string   `json:"name"`
	Aliases  []string `json:"aliases,omitempty"`
	Kind     Kind     `json:"kind"`
	Required bool     `json:"required,omitempty"`
}

// Operation is one call that a guest may make. In JSON it is what engines hand to their bindings.
type Operation struct {
	// Name is the operation's name in every language, as in memory.get_content.
	Name string `json:"name"`
	// Verb is the grant that the call needs.
	Verb Verb `json:"verb"`
	// Params are the parameters in the order of their places; the first one is the store.
	Params []Param `json:"params"`
}

// Names of the operations.
const (
	GetContent    = "get_content"
	SetContent    = "set_content"
	DeleteContent = "delete_content"
)

// Operations is the table of all operations: engines, SDKs, grants and docs are made from it. Adding one
// here is all that the way from a guest to its View needs. It is not changed while a guest runs.
var Operations = []Operation{
	{Name: GetContent, Verb: Read, Params: []Param{
		storeParam,
		{Name: "projection", Aliases: []string{"projections"}, Kind: JSON},
		optionsParam,
	}},
	{Name: SetContent, Verb: Write, Params: []Param{
		storeParam,
		{Name: "value", Aliases: []string{"content", "data_object"}, Kind: JSON, Required: true},
		optionsParam,
	}},
	{Name: DeleteContent, Verb: Delete, Params: []Param{storeParam, optionsParam}},
}

var (
	storeParam   = Param{Name: "store", Aliases: []string{"store_name", "memory_store_name"}, Kind: StoreName, Required: true}
	optionsParam = Param{Name: "options", Kind: JSON}
)

// LookupOperation finds an operation by its name.
func LookupOperation(name string) (Operation, bool) {
	for _, op := range Operations {
		if op.Name == name {
			return op, true
		}
	}
	return Operation{}, false
}

// Call is one operation that a guest asks for. It holds no identity: for whom a guest acts is known to the
// host alone.
type Call struct {
	Op string `json:"op"`
	// Args are JSON texts in the order of the operation's parameters; nil or missing ones are absent.
	Args []json.RawMessage `json:"args"`
}

// Arg returns the i-th argument, or nil where it is absent. An explicit null counts as absent but for
// required parameters.
func (c Call) Arg(i int) json.RawMessage {
	if i >= len(c.Args) {
		return nil
	}
	return c.Args[i]
}
