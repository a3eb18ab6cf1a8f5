package model

import (
	"context"
	"encoding/json"
)

// Chat is a language model. Implementations are safe for concurrent use.
type Chat interface {
	// Chat sends the request and returns the checked answer. Temporary errors are retried within the
	// deadline of ctx. The error is an *abi.Fault. The usage is valid even if the answer is rejected,
	// because the provider charges for the request.
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

// ChatRequest is a conversation that the model continues.
type ChatRequest struct {
	Messages []Message `json:"messages"`
	// Schema is the JSON Schema of the answer. If Schema is nil, the answer is a text.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Tools are the tools that the model can call instead of answering.
	Tools []Tool `json:"tools,omitempty"`
	// MaxTokens is the maximum length of the answer in tokens. The default of MaxTokens is the
	// limit of the provider.
	MaxTokens int `json:"max_tokens,omitempty"`
	// IdempotencyKey identifies the request for the provider, which can then detect a repeated
	// request. The IdempotencyKey is not part of the canonical request. Default: none.
	IdempotencyKey string `json:"-"`
}

// Message is a part of a conversation.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"`
	// ToolCalls are set only in a message of the role "assistant". ToolCalls are the tool calls
	// that the model requested.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// ToolCallID is set only in a message of the role "tool". ToolCallID is the id of the call
	// whose result is the content.
	ToolCallID string `json:"tool_call_id,omitempty"`
}

// Tool is a function that is offered to a model.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Parameters is the JSON Schema of the arguments. Default: any object.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// ToolCall is a call to a tool that a model requests.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is a JSON object.
	Arguments json.RawMessage `json:"arguments"`
}

// ChatAnswer is the answer of a model: tool calls, an object or a text.
type ChatAnswer struct {
	Text string `json:"text,omitempty"`
	// Object is compact JSON that is valid for the schema of the request.
	Object    json.RawMessage `json:"object,omitempty"`
	ToolCalls []ToolCall      `json:"tool_calls,omitempty"`
	// Truncated is true if the text was cut off at MaxTokens.
	Truncated bool  `json:"truncated,omitempty"`
	Usage     Usage `json:"usage"`
}

// Usage is the number of tokens that the provider reports and charges for a request.
type Usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}
