package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// chatKind is the kind of an external call to a chat model.
const chatKind = "chat"

// models contains what a run needs to call the models of the operator.
type models struct {
	set      *model.Set // nil if the operator has configured no models
	consumer model.Consumer
	// mocks contains answers that replace the answers of the models, or is nil.
	mocks model.Mocks
	// dry is true if the run must not make calls. test is true if the run is a test run.
	dry, test bool
	// machine is true if the run executes a machine.
	machine bool
	// answered maps the name of a model to the number of mock answers that this attempt has
	// received.
	answered map[string]int
}

// chat sends a request to a chat model and waits for the answer. Like externals.call, it parks the
// run while it waits.
func (x *externals) chat(ctx context.Context, name string, request model.ChatRequest) (model.ChatAnswer, error) {
	var answer model.ChatAnswer
	w := waiting{x: x}
	if err := x.addChat(&w, 0, name, request); err != nil {
		return answer, err
	}
	content, err := w.one(ctx)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(content, &answer); err != nil {
		return answer, err
	}
	return answer, nil
}

// addChat adds a call to w. The call sends a request to a chat model. If the call fails, the answer
// to the guest is a fault. If addChat returns an error, the run must stop.
func (x *externals) addChat(w *waiting, id uint64, name string, request model.ChatRequest) error {
	body, err := request.Canonical()
	if err != nil {
		w.addKnown(id, nil, err)
		return nil
	}
	if x.models.mocks != nil {
		content, err := x.models.mock(name, request)
		w.addKnown(id, content, err)
		return nil
	}
	chat, err := x.models.resolve(name)
	if err != nil {
		w.addKnown(id, nil, err)
		return nil
	}
	return w.add(id, externalCall{kind: chatKind, target: name, body: body, do: func(ctx context.Context, key string) ([]byte, error) {
		return x.sendChat(ctx, chat, name, key, request)
	}})
}

// sendChat sends a request to a model and records the usage of the request.
func (x *externals) sendChat(ctx context.Context, chat model.Chat, name, key string, request model.ChatRequest) ([]byte, error) {
	if err := x.models.set.CheckBudget(model.Chats, name, x.models.consumer, x.h.now()); err != nil {
		return nil, err
	}
	request.IdempotencyKey = key
	answer, err := chat.Chat(ctx, request)
	x.models.set.Count(model.Chats, name, x.models.consumer, answer.Usage, x.h.now())
	x.count(name, report.ModelUsage{Calls: 1, InputTokens: answer.Usage.InputTokens, OutputTokens: answer.Usage.OutputTokens})
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// resolve returns the model with the given name. If the run cannot use the model, resolve returns
// the fault abi.Unavailable.
func (m *models) resolve(name string) (model.Chat, error) {
	switch {
	case m.test:
		hint := fmt.Sprintf(`add answers of the model to the mocks: {%q: ["a text"]}`, truncateName(name))
		if m.machine {
			hint += ", or run `toolrun test`: a test of a machine contains answers in its section `assuming`"
		}
		return nil, abi.Faultf(abi.Unavailable, "a test run does not call models").WithHint("%s", hint)
	case m.dry:
		return nil, abi.Faultf(abi.Unavailable, "a dry run does not call models").
			WithHint("use --live to call the model, or --mock FILE to use the answers in a file")
	}
	chat, _, err := m.set.Chat(m.consumer.Tenant, name)
	return chat, err
}

// mock returns the next answer of a mock.
func (m *models) mock(name string, request model.ChatRequest) ([]byte, error) {
	index := m.answered[name]
	if m.answered == nil {
		m.answered = map[string]int{}
	}
	m.answered[name]++
	answer, err := m.mocks.Chat(name, index, request)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// chatArguments decodes the arguments of a guest's call to a chat model.
func chatArguments(call abi.Call, nesting int) (name string, request model.ChatRequest, err error) {
	if json.Unmarshal(call.Arg(0), &name) != nil {
		return name, request, abi.Faultf(abi.InvalidArgument, "the name of the model must be a string")
	}
	text := call.Arg(1)
	if err := strictjson.Check(text, strictjson.Limits{Depth: nesting}); err != nil {
		return name, request, abi.Faultf(abi.InvalidArgument, "the request is not valid JSON: %v", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if !strictjson.IsObject(text) || decoder.Decode(&request) != nil {
		return name, request, abi.Faultf(abi.InvalidArgument, "the request is not a valid chat request").
			WithHint(`pass an object such as {messages: [{role: "user", content: "..."}]}; the members schema, tools and max_tokens are optional`)
	}
	return name, request, nil
}

// checkModel returns nil if the given model is granted to the tool, and otherwise a fault.
func (t *tool) checkModel(name string) error {
	if slices.Contains(t.Models, name) {
		return nil
	}
	f := abi.Faultf(abi.AccessDenied, "the tool has no grant for the model %q", truncateName(name))
	if len(t.Models) > 0 {
		return f.WithHint("the tool can use the models: %s", strings.Join(t.Models, ", "))
	}
	return f.WithHint("grant the model to the tool with `models: [NAME]`")
}

// truncateName shortens the model name that a guest has passed. The message of a fault contains the
// shortened name.
func truncateName(name string) string {
	const limit = 64
	return strings.ToValidUTF8(name[:min(len(name), limit)], "")
}

// warnModels logs a warning if a tool, a collection or the section `sleep` uses a model that the
// operator has not configured. If no models are configured at all, warnModels logs nothing, and a
// tool that calls a model gets the fault abi.Unavailable.
func warnModels(h *Host) {
	if h.models == nil {
		return
	}
	for _, t := range h.app.Tools {
		for _, name := range t.Models {
			if !h.models.HasChat(name) {
				h.log.Warn("a tool has a grant for a model that is not configured", "app", h.app.ID, "tool", t.Name, "model", name)
			}
		}
	}
	for _, st := range h.app.Stores {
		if name := st.Collection.Embedding; name != "" && !h.models.HasEmbedder(name) {
			h.log.Warn("a collection has an embedding model that is not configured", "app", h.app.ID, "store", st.Name, "model", name)
		}
	}
	if s := h.app.Sleep; s != nil && s.Model != "" && !h.models.HasChat(s.Model) {
		h.log.Warn("the section `sleep` names a model that is not configured", "app", h.app.ID, "model", s.Model)
	}
}
