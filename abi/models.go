package abi

// ModelModule is the module of the operations on models.
const ModelModule = "model"

// ModelChat is the name of the operation that asks a language model.
const ModelChat = "model_chat"

// Models returns the table of the operations on models.
func Models() Table { return Table{modelChat()} }

func modelChat() Operation {
	return Operation{
		Name: ModelChat, Module: ModelModule, External: true,
		Doc: "sends a conversation to a language model and returns the model's answer; the tool requires a grant for the model",
		Params: []Param{
			{Name: "name", Aliases: []string{"model"}, Kind: JSON, Required: true, Type: Type{Shape: Text}, Doc: "the name of a model that is granted to the tool"},
			{Name: "request", Kind: JSON, Required: true, Type: chatRequestType(), Doc: "the conversation that the model continues"},
		},
		Reply: chatReplyType(),
	}
}

func chatRequestType() Type {
	return Type{Shape: Object, Name: "ChatRequest", Fields: []Field{
		{Name: "messages", Type: listOf(Type{Shape: Object, Name: "ChatMessage", Fields: []Field{
			{Name: "role", Type: Type{Shape: Text}, Doc: "system, user, assistant or tool"},
			{Name: "content", Type: Type{Shape: Text}},
			{Name: "tool_calls", Type: listOf(toolCallType()), Optional: true, Doc: "in a message of the role assistant: the tool calls that the model requested"},
			{Name: "tool_call_id", Type: Type{Shape: Text}, Optional: true, Doc: "in a message of the role tool: the id of the call whose result is the content"},
		}}), Doc: "the messages of the conversation, oldest first"},
		{Name: "schema", Type: Type{}, Optional: true, Doc: "the JSON Schema of the answer; without a schema, the answer is a text"},
		{Name: "tools", Type: listOf(Type{Shape: Object, Name: "ChatTool", Fields: []Field{
			{Name: "name", Type: Type{Shape: Text}},
			{Name: "description", Type: Type{Shape: Text}, Optional: true},
			{Name: "parameters", Type: Type{}, Optional: true, Doc: "the JSON Schema of the arguments"},
		}}), Optional: true, Doc: "functions that the model can call instead of answering"},
		{Name: "max_tokens", Type: Type{Shape: Integer}, Optional: true, Doc: "the maximum length of the answer in tokens"},
	}}
}

func toolCallType() Type {
	return Type{Shape: Object, Name: "ChatToolCall", Fields: []Field{
		{Name: "id", Type: Type{Shape: Text}},
		{Name: "name", Type: Type{Shape: Text}},
		{Name: "arguments", Type: Type{}},
	}}
}

func chatReplyType() Type {
	return Type{Shape: Object, Name: "ChatReply", Fields: []Field{
		{Name: "text", Type: Type{Shape: Text}, Optional: true, Doc: "the answer, if the request has no schema"},
		{Name: "object", Type: Type{}, Optional: true, Doc: "the answer, which fits the schema of the request"},
		{Name: "tool_calls", Type: listOf(toolCallType()), Optional: true, Doc: "the tool calls that the model requests instead of answering"},
		{Name: "truncated", Type: Type{Shape: Boolean}, Optional: true, Doc: "whether the text was cut off at max_tokens"},
		{Name: "usage", Type: Type{Shape: Object, Name: "ChatUsage", Fields: []Field{
			{Name: "input_tokens", Type: Type{Shape: Integer}},
			{Name: "output_tokens", Type: Type{Shape: Integer}},
		}}, Doc: "the number of tokens that the request and the answer used"},
	}}
}

func listOf(item Type) Type { return Type{Shape: List, Items: &item} }
