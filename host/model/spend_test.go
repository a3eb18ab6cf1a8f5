package model_test

import (
	"errors"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/model"
)

func TestBudgets(t *testing.T) {
	config := &model.Config{Chat: map[string]model.Entry{
		"a": {Provider: "x", TokensPerDay: model.Budget{Tenant: 30, App: 20, User: 10}}, "b": {Provider: "x", TokensPerDay: model.Budget{Tenant: 1, App: 1, User: 1}},
	}}
	factory := model.Factory{Chat: func(model.Entry, string) (model.Chat, error) { return nil, nil }}
	set, err := model.NewSet(config, map[string]model.Factory{"x": factory}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	refused := func(tenant, app, user string, at time.Time) bool {
		return errors.Is(set.CheckBudget(model.Chats, "a", model.Consumer{Tenant: tenant, App: app, User: user}, at), abi.QuotaExceeded)
	}
	use := func(tenant, app, user string, in, out int) {
		set.Count(model.Chats, "a", model.Consumer{Tenant: tenant, App: app, User: user}, model.Usage{InputTokens: in, OutputTokens: out}, day)
	}
	use("t", "x", "ann", 6, 3)
	if refused("t", "x", "ann", day) {
		t.Error("got a fault after 9 of 10 tokens of the user; want none")
	}
	use("t", "x", "ann", 1, 0)
	if !refused("t", "x", "ann", day) || refused("t", "x", "bob", day) || refused("t", "y", "ann", day) {
		t.Error("got other faults; want a fault only for the user of the app")
	}
	use("t", "x", "", 10, 0)
	if !refused("t", "x", "bob", day) || refused("t", "y", "bob", day) {
		t.Error("got other faults; want a fault for all users of the app, but not for users of another app")
	}
	use("t", "y", "bob", 5, 5)
	if !refused("t", "z", "", day) || refused("u", "x", "ann", day) {
		t.Error("got other faults; want a fault for all users of the tenant, but not for another tenant")
	}
	if refused("t", "x", "ann", day.Add(24*time.Hour)) {
		t.Error("got a fault on the next day; want none")
	}
	if set.CheckBudget(model.Chats, "b", model.Consumer{Tenant: "t"}, day) != nil {
		t.Error("got a fault for another model; want none, because each model has its own budget")
	}
}

func TestMocks(t *testing.T) {
	mocks, err := model.ReadMocks([]byte(`{"m": ["hi", {"object": {"n": 1}}, {"object": {"n": "x"}}, {"error": {"code": "timeout"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	request := model.ChatRequest{Messages: []model.Message{{Role: model.User, Content: "x"}}}
	if got, err := mocks.Chat("m", 0, request); err != nil || got.Text != "hi" {
		t.Errorf("the first answer = %+v, %v", got, err)
	}
	request.Schema = []byte(`{"type": "object", "properties": {"n": {"type": "integer"}}}`)
	if got, err := mocks.Chat("m", 1, request); err != nil || string(got.Object) != `{"n":1}` {
		t.Errorf("the second answer = %+v, %v", got, err)
	}
	for index, want := range map[int]abi.Code{2: abi.SchemaViolation, 3: abi.Timeout, 4: abi.Unavailable} {
		if _, err := mocks.Chat("m", index, request); !errors.Is(err, want) {
			t.Errorf("answer %d = %v; want %s", index, err, want)
		}
	}
	if _, err := mocks.Chat("other", 0, request); !errors.Is(err, abi.Unavailable) {
		t.Errorf("an unknown model = %v; want unavailable", err)
	}
	for _, text := range []string{``, `[]`, `{"m": 1}`, `{"m": [1]}`, `{"m": [{"txt": "x"}]}`, `{"m": [{"error": {"code": "what"}}]}`} {
		if _, err := model.ReadMocks([]byte(text)); !errors.Is(err, abi.InvalidArgument) {
			t.Errorf("ReadMocks(%s) = %v; want invalid_argument", text, err)
		}
	}
}

// A chat model and an embedder can have the same name. A chat model and an embedder with the same
// name have separate budgets.
func TestBudgetsOfSections(t *testing.T) {
	entry := map[string]model.Entry{"a": {Provider: "x", TokensPerDay: model.Budget{Tenant: 5, App: 5, User: 5}}}
	factory := model.Factory{
		Chat:     func(model.Entry, string) (model.Chat, error) { return nil, nil },
		Embedder: func(model.Entry, string) (model.Embedder, error) { return model.Lexical(), nil },
	}
	set, err := model.NewSet(&model.Config{Chat: entry, Embeddings: entry}, map[string]model.Factory{"x": factory}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	now, consumer := time.Now(), model.Consumer{Tenant: "t", App: "x", User: "ann"}
	set.Count(model.Embeddings, "a", consumer, model.Usage{InputTokens: 5}, now)
	if err := set.CheckBudget(model.Chats, "a", consumer, now); err != nil {
		t.Errorf("CheckBudget of the chat model = %v; want no fault", err)
	}
	if err := set.CheckBudget(model.Embeddings, "a", consumer, now); !errors.Is(err, abi.QuotaExceeded) {
		t.Errorf("CheckBudget of the embedder = %v; want quota_exceeded", err)
	}
}
