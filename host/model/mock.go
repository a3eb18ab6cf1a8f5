package model

import (
	"bytes"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// Mocks contains fixed answers. The answers in Mocks replace the answers of models. The key of the
// map is the name of the model. The first answer of a model replaces the answer to its first
// request, and so on.
type Mocks map[string][]MockAnswer

// MockAnswer is an answer of a model, or an error. In JSON, a MockAnswer can be a string. The
// string is the text of the answer.
type MockAnswer struct {
	Text      string          `json:"text,omitempty"`
	Object    json.RawMessage `json:"object,omitempty"`
	ToolCalls []ToolCall      `json:"tool_calls,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Usage     Usage           `json:"usage,omitzero"`
	Error     *abi.Fault      `json:"error,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *MockAnswer) UnmarshalJSON(text []byte) error {
	var words string
	if json.Unmarshal(text, &words) == nil {
		*m = MockAnswer{Text: words}
		return nil
	}
	type plain MockAnswer
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode((*plain)(m))
}

// ReadMocks decodes mocks from a JSON object. The object maps the name of each model to a list of
// answers. If the JSON is malformed, the error is the fault invalid_argument.
func ReadMocks(content []byte) (Mocks, error) {
	var mocks Mocks
	if err := strictjson.Check(content, strictjson.Limits{Depth: maxDepth}); err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the mocks are not valid JSON: %v", err)
	}
	if err := json.Unmarshal(content, &mocks); err != nil || mocks == nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the mocks must be a JSON object that maps each model to a list of answers").
			WithHint(`write {"MODEL": ["a text", {"object": {}}, {"error": {"code": "unavailable"}}]}`)
	}
	for name, answers := range mocks {
		for i, a := range answers {
			if a.Error != nil && a.Error.Code.Number() == 0 {
				return nil, abi.Faultf(abi.InvalidArgument, "answer %d of the mock for the model %s has an unknown error code", i+1, name)
			}
		}
	}
	return mocks, nil
}

// Chat returns the answer with the given index in the list of a model. Chat checks a mock answer in
// the same way as a real answer.
func (m Mocks) Chat(name string, index int, request ChatRequest) (ChatAnswer, error) {
	answers, ok := m[name]
	switch {
	case !ok:
		return ChatAnswer{}, abi.Faultf(abi.Unavailable, "the mocks have no answers for the model %s", name).
			WithHint("add the model to the mocks")
	case index >= len(answers):
		return ChatAnswer{}, abi.Faultf(abi.Unavailable, "the mocks contain only %d answers for the model %s, but the run requests more", len(answers), name).
			WithHint("add an answer for each request")
	}
	a := answers[index]
	if a.Error != nil {
		fault := *a.Error
		if fault.Message == "" {
			fault.Message = "the mock returns this error"
		}
		return ChatAnswer{}, &fault
	}
	text := a.Text
	if a.Object != nil {
		text = string(a.Object)
	}
	answer, err := request.Answer(text, a.ToolCalls)
	answer.Truncated, answer.Usage = a.Truncated, a.Usage
	return answer, err
}
