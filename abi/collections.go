package abi

// These are the names of the operations on collections. Recall is also an operation on blocks.
const (
	Remember = "remember"
	Forget   = "forget"
)

// Collections returns the table of the operations on collections.
func Collections() Table { return Table{rememberEntry(), recallEntries(), forgetEntries()} }

// recall returns the operation of blocks and collections. If the call does not name a collection,
// recall searches the blocks.
func recall() Operation {
	op := recallEntries()
	op.Forms = []Operation{recallBlocks(), recallEntries()}
	op.Params[0].Required = false
	return op
}

func rememberEntry() Operation {
	return Operation{
		Name: Remember, Verb: Write,
		Doc: "stores an entry in a collection, in place of an entry with the same id",
		Params: []Param{
			collectionParam(),
			{Name: "content", Kind: JSON, Required: true, Doc: "the text or the JSON value to store and to search for; null is rejected"},
			optionsParam("RememberOptions",
				metadataField("metadata", "values by which recall can filter, such as `{category: \"complaint\"}`"),
				namespaceField("the namespace of the entry; the default is the namespace without a name"),
				Field{Name: "ttl", Type: Type{Shape: Text}, Optional: true, Doc: "the lifetime of the entry, such as \"30d\"; the default is the retention of the collection"},
				Field{Name: "id", Type: Type{Shape: Text}, Optional: true, Doc: "the id of the entry in its namespace; the default is a new id"}),
		},
		Reply: Type{Shape: Object, Name: "RememberReply", Fields: []Field{
			{Name: "success", Type: Type{Shape: Success}},
			{Name: "id", Type: Type{Shape: Text}, Doc: "the id of the entry"},
			{Name: "expires_at", Type: Type{Shape: Text, Nullable: true}},
		}},
	}
}

func recallEntries() Operation {
	return Operation{
		Name: Recall, Verb: Read,
		Doc: "searches a collection and returns the entries that match a query, from the best to the worst",
		Params: []Param{
			collectionParam(),
			{Name: "query", Kind: JSON, Required: true, Type: Type{Shape: Text}, Doc: "the text to search for, as in \"Acme renewal\""},
			strict(optionsParam("RecallEntriesOptions",
				Field{Name: "limit", Type: Type{Shape: Integer}, Optional: true, Doc: "the maximum number of entries, from 1 to 1000; the default is 10"},
				Field{Name: "threshold", Type: Type{Shape: Number}, Optional: true, Doc: "the minimum score of an entry, from 0 to 1"},
				filterField(),
				namespaceField("the only namespace to search; the default is the namespace without a name"),
				Field{Name: "mode", Type: Type{Shape: Text}, Optional: true, Doc: "hybrid, vector or text; the default is hybrid"},
				Field{Name: "scores", Type: Type{Shape: Boolean}, Optional: true, Doc: "also return the vector and text parts of each score"}), "filter.*"),
		},
		Reply: Type{Shape: Object, Name: "Recalled", Fields: []Field{
			{Name: "results", Type: Type{Shape: List, Items: &Type{Shape: Object, Name: "RecalledEntry", Fields: []Field{
				{Name: "id", Type: Type{Shape: Text}},
				{Name: "content", Type: Type{Shape: Content}},
				metadataReply(),
				{Name: "score", Type: Type{Shape: Number}, Doc: "the relevance of the entry, from 0 to 1"},
				{Name: "vector", Type: Type{Shape: Number}, Optional: true, Doc: "with the option scores, the similarity of the vectors"},
				{Name: "text", Type: Type{Shape: Number}, Optional: true, Doc: "with the option scores, the relevance of the words"},
			}}}},
			{Name: "count", Type: Type{Shape: Integer}, Doc: "the number of results"},
		}},
	}
}

func forgetEntries() Operation {
	return Operation{
		Name: Forget, Verb: Delete,
		Doc: "removes entries from a namespace of a collection: the entry with an id, the entries that match a filter, or all entries",
		Params: []Param{
			collectionParam(),
			{Name: "selector", Aliases: []string{"options"}, Kind: JSON, Required: true, Strict: []string{"id", "filter", "all"}, Type: Type{Shape: Object, Name: "ForgetSelector", Fields: []Field{
				{Name: "id", Type: Type{Shape: Text}, Optional: true, Doc: "the id of an entry"},
				filterField(),
				namespaceField("the namespace of the entries; if neither id nor filter is set, all entries of the namespace are removed"),
				{Name: "all", Type: Type{Shape: Boolean}, Optional: true, Doc: "remove all entries of the namespace without a name"},
			}}, Doc: "the entries to remove"},
		},
		Reply: Type{Shape: Object, Name: "ForgetReply", Fields: []Field{
			{Name: "count", Type: Type{Shape: Integer}, Doc: "the number of removed entries"},
			{Name: "more", Type: Type{Shape: Boolean}, Doc: "whether the limit of one call was reached before all entries were checked"},
		}},
	}
}

func collectionParam() Param {
	return Param{Name: "collection", Aliases: []string{"collection_name"}, Kind: StoreName, Required: true, Doc: "the name of the collection, such as \"knowledge_base\""}
}

// strict returns a parameter with Param.Strict.
func strict(p Param, members ...string) Param {
	p.Strict = members
	return p
}

func namespaceField(doc string) Field {
	return Field{Name: "namespace", Type: Type{Shape: Text}, Optional: true, Doc: doc}
}

func metadataField(name, doc string) Field {
	return Field{Name: name, Type: Type{Shape: Named, Name: "JsonObject"}, Optional: true, Doc: doc}
}

func metadataReply() Field {
	f := metadataField("metadata", "the metadata that was stored with the entry")
	f.Optional = false
	return f
}

func filterField() Field {
	return metadataField("filter", "accept only entries whose metadata match: `{name: value}`, `{name: {in:[values]}}` or `{name: {gte: number, lte: number}}`")
}
