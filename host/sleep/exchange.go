package sleep

import (
	_ "embed"
	"encoding/json"

	"github.com/toolrun/toolrun/host/model"
)

// Prompt is the instruction to a model. The request with the transcript follows the Prompt as a
// separate message.
//
//go:embed prompt.txt
var Prompt string

// Request is the input of a tool, and the content of the message to a model.
type Request struct {
	// Blocks contains the texts that the user and the agent can have.
	Blocks []Block `json:"blocks"`
	// Transcript contains the messages of the conversation, oldest first.
	Transcript []Message `json:"transcript"`
	// Dropped is the number of older messages that are missing in the transcript.
	Dropped int64 `json:"dropped"`
	// Rejected contains the proposals of the previous answer that were not stored. If Rejected is
	// not empty, the request is repeated because of the rejected proposals.
	Rejected []Rejection `json:"rejected,omitempty"`
}

// Message is a message of the conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Agent   string `json:"agent,omitempty"`
}

// Block contains a text about a user, and the limits of the text.
type Block struct {
	Name        string `json:"block"`
	Scope       string `json:"scope"`
	Use         string `json:"use"`
	Description string `json:"description,omitempty"`
	Content     string `json:"content"`
	// Characters and Entries are the limits of the text. If Entries is 0, the number of entries is
	// not limited.
	Characters int `json:"characters"`
	Entries    int `json:"entries,omitempty"`
	// Writable is true if proposals for the text are allowed.
	Writable bool `json:"writable"`
	// Updated is the version of the text, or nil if the text does not exist.
	Updated *string `json:"-"`
}

// The scopes of blocks.
const (
	ScopeUser  = "user"
	ScopeAgent = "agent"
)

// Proposal is the new content of a text.
type Proposal struct {
	Block   string `json:"block"`
	Scope   string `json:"scope"`
	Content string `json:"content"`
}

// Rejection contains a proposal that was not stored, and the reason for the rejection.
type Rejection struct {
	Proposal
	Reason string `json:"reason"`
}

// answerSchema is the schema of the answer of a model.
var answerSchema = json.RawMessage(`{"type":"object","properties":{"proposals":{"type":"array","items":{"type":"object",` +
	`"properties":{"block":{"type":"string"},"scope":{"type":"string","enum":["user","agent"]},"content":{"type":"string"}},` +
	`"required":["block","scope","content"],"additionalProperties":false}}},"required":["proposals"],"additionalProperties":false}`)

// Chat returns the conversation with a model about a request. If the request is repeated, the
// argument "first" is the model's first answer. The transcript is part of a JSON document, so a
// message cannot imitate the end of the transcript.
func Chat(r Request, first json.RawMessage) (model.ChatRequest, error) {
	rejected := r.Rejected
	r.Rejected = nil
	text, err := json.Marshal(r)
	if err != nil {
		return model.ChatRequest{}, err
	}
	chat := model.ChatRequest{
		Messages: []model.Message{{Role: model.System, Content: Prompt}, {Role: model.User, Content: string(text)}}, Schema: answerSchema,
	}
	if len(rejected) == 0 {
		return chat, nil
	}
	reasons, err := json.Marshal(struct {
		Rejected []Rejection `json:"rejected"`
	}{rejected})
	if err != nil {
		return model.ChatRequest{}, err
	}
	chat.Messages = append(chat.Messages, model.Message{Role: model.Assistant, Content: string(first)},
		model.Message{Role: model.User, Content: "These proposals were not stored. Propose these texts again without the mistakes, and nothing else.\n" + string(reasons)})
	return chat, nil
}
