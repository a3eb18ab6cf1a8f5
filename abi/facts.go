package abi

// These are the names of the operations on facts.
const (
	GetFact    = "get_fact"
	SetFact    = "set_fact"
	DeleteFact = "delete_fact"
	ListFacts  = "list_facts"
)

// Facts returns the table of the operations on facts.
func Facts() Table {
	return Table{getFact(), setFact(), deleteFact(), listFacts()}
}

func getFact() Operation {
	return Operation{
		Name: GetFact, Verb: Read,
		Doc: "returns the value of a fact; if no value is stored, returns the declared default, or null",
		Params: []Param{
			pathParam(),
			optionsParam("GetFactOptions", Field{Name: "record", Type: Type{Shape: Boolean}, Optional: true, Doc: "return the whole record instead of only the value"}),
		},
		Reply: Type{Shape: Content, Nullable: true, Doc: "the value, the default or null; with the option record, the whole record"},
		Variants: []Variant{
			{Param: "options", Member: "record", Value: "true", Reply: Type{Shape: Object, Name: "FactRecord", Fields: append(factFields(Type{Shape: Content, Nullable: true}),
				Field{Name: "type", Type: Type{Shape: Text, Nullable: true}, Doc: "the declared type"},
				Field{Name: "default", Type: Type{Shape: Boolean}, Doc: "whether the value is the default, because no value is stored"},
			)}, Doc: "returns the value with its record"},
		},
	}
}

func setFact() Operation {
	return Operation{
		Name: SetFact, Verb: Write,
		Doc: "stores the value of a fact in place of the previous value",
		Params: []Param{
			pathParam(),
			{Name: "value", Kind: JSON, Required: true, Doc: "the value; null is rejected, because delete_fact deletes a value"},
			optionsParam("SetFactOptions",
				Field{Name: "if_revision", Type: Type{Shape: Integer}, Optional: true, Doc: "write only if the record has this revision; if not, the call fails with conflict; 0 means that the record must not exist"},
				Field{Name: "ttl", Type: Type{Shape: Text}, Optional: true, Doc: "the lifetime of the value, such as \"30m\"; the default is the declared ttl"}),
		},
		Reply: setReplyType(),
	}
}

func deleteFact() Operation {
	op := deleteContent()
	op.Name, op.Doc = DeleteFact, "deletes the stored value of a fact, so that reads return its default again"
	op.Params = append([]Param{pathParam()}, op.Params[1:]...)
	return op
}

func listFacts() Operation {
	return Operation{
		Name: ListFacts, Verb: Read,
		Doc: "returns the stored facts that the tool can read, without defaults",
		Params: []Param{
			{Name: "prefix", Kind: JSON, Type: Type{Shape: Text, Nullable: true}, Doc: "list only facts whose path begins with these names, such as \"user.travel\""},
			{Name: "domain", Kind: JSON, Type: Type{Shape: Text, Nullable: true}, Doc: "list only facts of this domain"},
			{Name: "limit", Kind: JSON, Type: Type{Shape: Integer, Nullable: true}, Doc: "the maximum number of facts, from 1 to 1000; the default is 100"},
			{Name: "after", Kind: JSON, Type: Type{Shape: Text, Nullable: true}, Doc: "the member next of the previous page"},
		},
		Reply: Type{Shape: Object, Name: "FactList", Fields: []Field{
			{Name: "facts", Type: Type{Shape: List, Items: &Type{Shape: Object, Name: "Fact", Fields: factFields(Type{})}}},
			{Name: "next", Type: Type{Shape: Text, Nullable: true}, Doc: "the argument after for the next page, or null on the last page"},
		}},
	}
}

func pathParam() Param {
	return Param{Name: "path", Kind: JSON, Required: true, Type: Type{Shape: Text}, Doc: "the path of the fact, such as \"user.language\""}
}

func factFields(value Type) []Field {
	return []Field{
		{Name: "path", Type: Type{Shape: Text}},
		{Name: "value", Type: value},
		{Name: "revision", Type: Type{Shape: Integer}},
		{Name: "updated_at", Type: Type{Shape: Text, Nullable: true}},
		{Name: "expires_at", Type: Type{Shape: Text, Nullable: true}},
	}
}
