package abi

import "slices"

// These are the names of the operations on documents, which are the contents of records.
const (
	GetContent    = "get_content"
	SetContent    = "set_content"
	DeleteContent = "delete_content"
)

// Operations returns the table of the operations of all built-in kinds of stores, and of the
// external operations. After a change of the table, run "go generate ./internal/bindgen" to update
// the guest bindings and ABI.md.
func Operations() Table {
	blocks, entries := Blocks(), Collections()
	for i, op := range blocks {
		if op.Name == Recall {
			blocks[i] = recall()
		}
	}
	entries = slices.DeleteFunc(entries, func(op Operation) bool { return op.Name == Recall })
	return slices.Concat(Documents(), Facts(), blocks, entries, Models())
}

// Documents returns the table of the operations on documents.
func Documents() Table {
	return Table{getContent(), setContent(), deleteContent()}
}

func getContent() Operation {
	content := Type{Shape: Content, Nullable: true, Doc: "the content, or null if no record exists; with the option record, the whole record"}
	return Operation{
		Name: GetContent, Verb: Read,
		Doc: "returns the content of the record in a store, or null if no record exists",
		Params: []Param{
			storeParam(),
			{Name: "projection", Aliases: []string{"projections"}, Kind: JSON, Type: Type{Shape: Named, Name: "Projection", Nullable: true},
				Doc: "the parts to read: `{\"a.b\": 1}` includes a part and `{\"a\": 0}` excludes a part; paths also apply to each element of an array; `\\.` is a dot in a name"},
			optionsParam("GetOptions", Field{Name: "record", Type: Type{Shape: Boolean}, Optional: true, Doc: "return the whole record instead of only the content"}),
		},
		Reply: content,
		Variants: []Variant{
			{Param: "store", Value: `"sessionMeta"`, Reply: Type{Shape: Named, Name: "SessionMeta"},
				Doc: "returns data about the session; it requires the grant sessionMeta: read"},
			{Param: "options", Member: "record", Value: "true", Reply: Type{Shape: Object, Name: "StoredRecord", Nullable: true, Fields: []Field{
				{Name: "content", Type: Type{Shape: Content}},
				{Name: "revision", Type: Type{Shape: Integer}},
				{Name: "created", Type: Type{Shape: Text}},
				{Name: "updated_at", Type: Type{Shape: Text}},
				{Name: "expires_at", Type: Type{Shape: Text, Nullable: true}},
			}}, Doc: "returns the whole record, or null if no record exists"},
		},
	}
}

func setContent() Operation {
	return Operation{
		Name: SetContent, Verb: Write,
		Doc: "creates the record of a store or merges a value into its content (RFC 7396): objects are merged deeply, arrays are replaced, and null removes a member",
		Params: []Param{
			storeParam(),
			{Name: "value", Aliases: []string{"content", "data_object"}, Kind: JSON, Required: true, Doc: "the value to merge"},
			optionsParam("SetOptions",
				Field{Name: "replace", Type: Type{Shape: Boolean}, Optional: true, Doc: "replace the content with the value instead of merging the value into it"},
				Field{Name: "if_revision", Type: Type{Shape: Integer}, Optional: true, Doc: "write only if the record has this revision; if not, the call fails with conflict; 0 means that the record must not exist"},
				Field{Name: "ttl", Type: Type{Shape: Text}, Optional: true, Doc: "the lifetime of the record, such as \"30m\", if it is shorter than the store's retention"}),
		},
		Reply: setReplyType(),
	}
}

func setReplyType() Type {
	return Type{Shape: Object, Name: "SetReply", Fields: []Field{
		{Name: "success", Type: Type{Shape: Success}},
		{Name: "revision", Type: Type{Shape: Integer, Nullable: true}},
		{Name: "updated_at", Type: Type{Shape: Text, Nullable: true}},
		{Name: "expires_at", Type: Type{Shape: Text, Nullable: true}},
	}, Doc: "metadata of the stored record; revision and updated_at are null if the run has not read the record, because such a write does not conflict with other runs"}
}

func deleteContent() Operation {
	return Operation{
		Name: DeleteContent, Verb: Delete,
		Doc: "deletes the record of a store",
		Params: []Param{
			storeParam(),
			optionsParam("DeleteOptions", Field{Name: "if_revision", Type: Type{Shape: Integer}, Optional: true, Doc: "delete only if the record has this revision; if not, the call fails with conflict"}),
		},
		Reply: Type{Shape: Object, Name: "DeleteReply", Fields: []Field{
			{Name: "success", Type: Type{Shape: Success}},
			{Name: "deleted", Type: Type{Shape: Boolean}, Doc: "whether the record existed"},
		}},
	}
}

func storeParam() Param {
	return Param{Name: "store", Aliases: []string{"store_name", "memory_store_name"}, Kind: StoreName, Required: true, Doc: "the name of the store"}
}

func optionsParam(name string, fields ...Field) Param {
	return Param{Name: "options", Kind: JSON, Type: Type{Shape: Object, Name: name, Fields: fields}, Doc: "options"}
}
