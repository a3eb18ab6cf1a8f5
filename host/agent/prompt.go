package agent

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/model"
)

// These limits apply to the transcript that models receive. If the transcript exceeds a limit, the
// oldest messages are dropped.
const (
	MaxTranscriptMessages = 40
	MaxTranscriptBytes    = 32 << 10
)

// maxKnownBytes is the maximum size of the variables and facts in a prompt.
const maxKnownBytes = 32 << 10

// Prompt is a request that a turn would send to a model.
type Prompt struct {
	Model   string            `json:"model"`
	Request model.ChatRequest `json:"request"`
}

// errPreview ends a turn at its first request to a model.
var errPreview = errors.New("the turn sends a request to a model")

// previewEnv records the first request to a model instead of sending it.
type previewEnv struct {
	Env
	prompt *Prompt
}

// Chat implements Env.
func (e *previewEnv) Chat(_ context.Context, _, name string, request model.ChatRequest) (model.ChatAnswer, error) {
	e.prompt = &Prompt{Model: name, Request: request}
	return model.ChatAnswer{}, errPreview
}

// Preview returns the first request that a turn would send to a model, or nil if the turn would
// send no request. Preview performs the turn up to the request, including calls to tools.
// Therefore, the caller must not commit the changes to env.
func (s *Set) Preview(ctx context.Context, env Env, r Request) (*Prompt, error) {
	preview := &previewEnv{Env: env}
	if _, err := s.Turn(ctx, preview, r); err != nil && !errors.Is(err, errPreview) {
		return nil, err
	}
	return preview.prompt, nil
}

// conversation returns the messages that the model of a step receives. The argument "remembered" is
// the part of the prompt that contains the memory of the user.
func (r *reasoner) conversation(step *abl.Step, remembered string) []model.Message {
	var b strings.Builder
	b.WriteString("You are the agent " + r.mem.agent.name + ".\n")
	section(&b, "Goal", r.mem.agent.Goal.Value)
	section(&b, "Task", step.Goal.Value)
	instructions := slices.Concat(r.mem.state.Instructions, r.log.outcome.Instructions)
	for i, instruction := range instructions {
		if !slices.Contains(instructions[:i], instruction) {
			section(&b, "Instruction", instruction)
		}
	}
	section(&b, "Known values", r.known())
	b.WriteString(remembered)
	b.WriteString("Answer the user in plain text.")
	messages := []model.Message{{Role: model.System, Content: b.String()}}
	messages = append(messages, r.mem.state.Transcript...)
	return append(messages, r.t.exchange()...)
}

func section(b *strings.Builder, title, text string) {
	if text = strings.TrimSpace(text); text != "" {
		b.WriteString(title + ": " + text + "\n")
	}
}

// known returns a JSON object that contains the session variables, and the facts that recalls have
// loaded. Sensitive values appear in their display form.
func (r *reasoner) known() string {
	values := map[string]any{}
	size := 0
	for _, group := range []map[string]any{r.mem.state.Variables, r.mem.kept, r.mem.session.Injected} {
		for _, name := range slices.Sorted(maps.Keys(group)) {
			if abl.Plain(group[name]) == nil {
				continue
			}
			n, _ := sizeOf(group[name], maxKnownBytes, 0)
			if size += n + len(name); size > maxKnownBytes {
				break
			}
			values[name] = r.mem.agent.shown(name, group[name])
		}
	}
	if len(values) == 0 {
		return ""
	}
	content, err := json.Marshal(values)
	if err != nil {
		return ""
	}
	return string(content)
}

// exchange returns the messages of this turn: the message of the user and the messages of the
// agent.
func (t *turn) exchange() []model.Message {
	var messages []model.Message
	if t.request.HasMessage && strings.TrimSpace(t.request.Message) != "" {
		messages = append(messages, model.Message{Role: model.User, Content: strings.ToValidUTF8(t.request.Message, "\uFFFD")})
	}
	for _, text := range t.log.outcome.Messages[t.agentStart:] {
		messages = append(messages, model.Message{Role: model.Assistant, Content: strings.ToValidUTF8(text, "\uFFFD")})
	}
	return messages
}

// record adds the messages and instructions of this turn to the state of the agent. If the agent
// uses no model, the method does nothing.
func (t *turn) record() {
	if !t.mem.agent.reasons {
		return
	}
	state := t.mem.state
	state.Transcript = append(state.Transcript, t.exchange()...)
	state.Transcript = state.Transcript[max(0, len(state.Transcript)-MaxTranscriptMessages):]
	size := 0
	for i := len(state.Transcript) - 1; i >= 0; i-- {
		if size += len(state.Transcript[i].Content); size > MaxTranscriptBytes {
			state.Transcript = state.Transcript[i+1:]
			break
		}
	}
	for _, instruction := range t.log.outcome.Instructions {
		if len(state.Instructions) < MaxInstructions && !slices.Contains(state.Instructions, instruction) {
			state.Instructions = append(state.Instructions, instruction)
		}
	}
}
