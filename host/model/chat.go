package model

import (
	"context"
	"encoding/json"
)

// Chat is a language model. Implementations are safe for concurrent use.
type Chat interface {
	// Chat sends the request and returns the checked answer. Chat retries after temporary errors
	// until the deadline of ctx. The error is an *abi.Fault. The usage is valid even if Chat
	// rejects the answer, because the provider charges for the request.
	Chat(ctx context.Context, request ChatRequest) (ChatAnswer, error)
}

// Role is the author of a message.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// A ChatRequest contains a conversation. The model adds the next message.
type ChatRequest struct {
	Messages []Message `json:"messages"`
	// Schema is the JSON Schema of the answer. If Schema is nil, the answer can be any text.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Tools contains the tools that the model can call. The model can call tools instead of
	// answering.
	Tools []Tool `json:"tools,omitempty"`
	// MaxTokens is the maximum number of tokens in the answer. If MaxTokens is 0, the limit of the
	// provider applies.
	MaxTokens int `json:"max_tokens,omitempty"`
	// IdempotencyKey identifies the request for the provider. With the key, the provider can detect
	// that a request is repeated. The IdempotencyKey is not part of the result of Canonical.
	// Default: none.
	IdempotencyKey string `json:"-"`
}

// Message is a part of a conversation.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"`
	// ToolCalls contains the tool calls that the model requested, if the role is "assistant".
	// Otherwise, ToolCalls is empty.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// ToolCallID is the id of the tool call whose result is the content of the message, if the role
	// is "tool". Otherwise, ToolCallID is "".
	ToolCallID string `json:"tool_call_id,omitempty"`
}

// A Tool is a function that the model can call.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Parameters is the JSON Schema of the tool's arguments. Default: any object.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// A ToolCall is a request of a model to call a tool.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is a JSON object.
	Arguments json.RawMessage `json:"arguments"`
}

// ChatAnswer is the answer of a model. ChatAnswer contains tool calls, an object or a text.
type ChatAnswer struct {
	Text string `json:"text,omitempty"`
	// Object is compact JSON. Object matches the schema of the request.
	Object    json.RawMessage `json:"object,omitempty"`
	ToolCalls []ToolCall      `json:"tool_calls,omitempty"`
	// Truncated is true if the text was cut off at MaxTokens.
	Truncated bool  `json:"truncated,omitempty"`
	Usage     Usage `json:"usage"`
}

// Usage contains the numbers of tokens that the provider reports for a request. The provider
// charges for the reported tokens.
type Usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}
