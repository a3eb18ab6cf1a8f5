package abi

// These are the names of the operations on blocks.
const (
	GetBlock    = "get_block"
	UpdateBlock = "update_block"
	DeleteBlock = "delete_block"
	Recall      = "recall"
)

// Blocks returns the table of the operations on blocks.
func Blocks() Table { return Table{getBlock(), updateBlock(), deleteBlock(), recallBlocks()} }

func getBlock() Operation {
	return Operation{
		Name: GetBlock, Verb: Read,
		Doc: "returns a block of the user or of the active agent, or null if the block does not exist",
		Params: []Param{
			blockParam(),
			optionsParam("GetBlockOptions", agentField()),
		},
		Reply: Type{Shape: Object, Name: "Block", Nullable: true, Fields: []Field{
			{Name: "id", Type: Type{Shape: Text}},
			{Name: "block_type", Type: Type{Shape: Text}, Doc: "the name of the block"},
			{Name: "content", Type: Type{Shape: Text}},
			{Name: "scope", Type: Type{Shape: Text}, Doc: "user or agent"},
			{Name: "agent_id", Type: Type{Shape: Text, Nullable: true}, Doc: "the agent, or null if the block belongs to the user"},
			{Name: "created_at", Type: Type{Shape: Text}},
			{Name: "updated_at", Type: Type{Shape: Text}, Doc: "the version of the block, for expected_updated_at"},
			{Name: "revision", Type: Type{Shape: Integer}},
		}, Doc: "the block, or null if it does not exist"},
	}
}

func updateBlock() Operation {
	return Operation{
		Name: UpdateBlock, Verb: Write,
		Doc: "stores the text of a block in place of the previous text, unless the block has changed since the tool read it",
		Params: []Param{
			blockParam(),
			{Name: "content", Kind: JSON, Required: true, Type: Type{Shape: Text}, Doc: "the whole new text; entries are lines such as \"- Prefers tea\""},
			optionsParam("UpdateBlockOptions", expectedFields("write")...),
		},
		Reply: Type{Shape: Object, Name: "UpdateBlockReply", Fields: []Field{
			{Name: "success", Type: Type{Shape: Success}},
			{Name: "revision", Type: Type{Shape: Integer}},
			{Name: "updated_at", Type: Type{Shape: Text}},
		}},
	}
}

func deleteBlock() Operation {
	return Operation{
		Name: DeleteBlock, Verb: Delete,
		Doc: "deletes a block, unless the block has changed since the tool read it",
		Params: []Param{
			blockParam(),
			optionsParam("DeleteBlockOptions", expectedFields("delete")...),
		},
		Reply: deleteContent().Reply,
	}
}

func recallBlocks() Operation {
	return Operation{
		Name: Recall, Verb: Read,
		Doc: "searches the blocks that the tool can read, such as archival, and returns the lines that match a query, from the best to the worst",
		Params: []Param{
			{Name: "query", Kind: JSON, Required: true, Type: Type{Shape: Text}, Doc: "the words to search for, as in \"Acme renewal\""},
			optionsParam("RecallOptions",
				Field{Name: "limit", Type: Type{Shape: Integer}, Optional: true, Doc: "the maximum number of lines, from 1 to 100; the default is 10"},
				Field{Name: "min_score", Type: Type{Shape: Number}, Optional: true, Doc: "the minimum score of a line, from 0 to 1"},
				Field{Name: "agent", Type: Type{Shape: Boolean}, Optional: true, Doc: "also search the blocks of the active agent"}),
		},
		Reply: Type{Shape: Object, Name: "RecallReply", Fields: []Field{
			{Name: "results", Type: Type{Shape: List, Items: &Type{Shape: Object, Name: "RecallResult", Fields: []Field{
				{Name: "content", Type: Type{Shape: Text}, Doc: "the line without its list marker"},
				{Name: "score", Type: Type{Shape: Number}, Doc: "the share of the query that the line contains, from 0 to 1"},
				{Name: "block_type", Type: Type{Shape: Text}, Doc: "the name of the block"},
				{Name: "scope", Type: Type{Shape: Text}, Doc: "user or agent"},
				{Name: "agent_id", Type: Type{Shape: Text, Nullable: true}, Doc: "the agent, or null if the block belongs to the user"},
				{Name: "line_number", Type: Type{Shape: Integer}, Doc: "the position of the line in the block, from 1"},
				{Name: "updated_at", Type: Type{Shape: Text}, Doc: "the version of the block"},
			}}}},
		}},
	}
}

func blockParam() Param {
	return Param{Name: "name", Aliases: []string{"block"}, Kind: StoreName, Required: true, Doc: "the name of the block, such as \"core\""}
}

func expectedFields(verb string) []Field {
	return []Field{
		{Name: "expected_updated_at", Type: Type{Shape: Text, Nullable: true}, Optional: true, Doc: verb + " only if the block has this updated_at; if not, the call fails with conflict; null or absent means that the block must not exist"},
		{Name: "if_revision", Type: Type{Shape: Integer}, Optional: true, Doc: verb + " only if the block has this revision; you can use if_revision instead of expected_updated_at"},
		agentField(),
	}
}

func agentField() Field {
	return Field{Name: "agent", Type: Type{Shape: Boolean}, Optional: true, Doc: "use the block of the active agent instead of the block of the user"}
}
