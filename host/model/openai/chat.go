package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"

	"github.com/sashabaranov/go-openai"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/model"
)

// Chat implements model.Chat.
func (p *Provider) Chat(ctx context.Context, request model.ChatRequest) (model.ChatAnswer, error) {
	if _, err := request.Canonical(); err != nil {
		return model.ChatAnswer{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, p.options.Timeout)
	defer cancel()
	response, err := p.api(request.IdempotencyKey).CreateChatCompletion(bounded, p.completion(request))
	if err != nil {
		return model.ChatAnswer{}, p.fault(ctx, err)
	}
	usage := usageOf(response.Usage)
	answer, err := read(request, response)
	answer.Usage = usage
	return answer, err
}

// completion translates a request.
func (p *Provider) completion(request model.ChatRequest) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: p.options.Model}
	// Older servers support only the field max_tokens. The newer models of OpenAI reject max_tokens
	// and accept only max_completion_tokens.
	if p.base.Hostname() == "api.openai.com" {
		out.MaxCompletionTokens = request.MaxTokens
	} else {
		out.MaxTokens = request.MaxTokens //lint:ignore SA1019 compatible servers need it
	}
	for _, m := range request.Messages {
		message := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content, ToolCallID: m.ToolCallID}
		for _, call := range m.ToolCalls {
			function := openai.FunctionCall{Name: call.Name, Arguments: string(call.Arguments)}
			message.ToolCalls = append(message.ToolCalls, openai.ToolCall{ID: call.ID, Type: openai.ToolTypeFunction, Function: function})
		}
		out.Messages = append(out.Messages, message)
	}
	for _, tool := range request.Tools {
		parameters := tool.Parameters
		if parameters == nil {
			parameters = json.RawMessage(`{"type":"object"}`)
		}
		function := &openai.FunctionDefinition{Name: tool.Name, Description: tool.Description, Parameters: parameters}
		out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: function})
	}
	if request.Schema != nil {
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: "answer", Schema: request.Schema},
		}
	}
	return out
}

// read checks a response and returns the answer in the response.
func read(request model.ChatRequest, response openai.ChatCompletionResponse) (model.ChatAnswer, error) {
	if len(response.Choices) == 0 {
		return model.ChatAnswer{}, abi.Faultf(abi.Unavailable, "the model's provider sent no answer")
	}
	choice := response.Choices[0]
	message := choice.Message
	truncated := choice.FinishReason == openai.FinishReasonLength
	switch {
	case choice.FinishReason == openai.FinishReasonContentFilter || message.Refusal != "":
		return model.ChatAnswer{}, abi.Faultf(abi.Unavailable, "the model refused to answer")
	case truncated && (request.Schema != nil || len(message.ToolCalls) > 0):
		return model.ChatAnswer{}, abi.Faultf(abi.TooLarge, "the model's answer reached the limit `max_tokens`").
			WithHint("raise `max_tokens`, or request a shorter answer")
	}
	var calls []model.ToolCall
	for _, call := range message.ToolCalls {
		calls = append(calls, model.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: json.RawMessage(call.Function.Arguments)})
	}
	answer, err := request.Answer(message.Content, calls)
	answer.Truncated = truncated
	return answer, err
}

// usageOf returns the usage in a response. Negative counts are replaced by 0.
func usageOf(u openai.Usage) model.Usage {
	return model.Usage{InputTokens: max(u.PromptTokens, 0), OutputTokens: max(u.CompletionTokens, 0)}
}

// isProtocol reports whether an error means that a response could not be decoded. If
// the error has the type *url.Error, the connection has failed.
func isProtocol(err error) bool {
	_, transport := errors.AsType[*url.Error](err)
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, wrongType := errors.AsType[*json.UnmarshalTypeError](err)
	return !transport && (syntax || wrongType || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
}
