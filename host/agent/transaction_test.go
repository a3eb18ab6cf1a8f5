package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// txEnv is an environment that uses a real transaction. In this environment, each tool runs in a
// nested transaction.
type txEnv struct {
	tx      *txn.Tx
	now     time.Time
	random  *rand.Rand
	user    string
	session string
	// paths contains the paths of all facts that a test can store.
	paths []string
	// tool executes a tool. The argument "e" is the environment of the tool's nested transaction.
	tool func(ctx context.Context, e *txEnv, name string, input map[string]any) (any, error)
	// chat answers requests to models. If chat is nil, the environment has no models.
	chat func(request model.ChatRequest) (model.ChatAnswer, error)
}

var _ agent.Env = (*txEnv)(nil)

var appKey = storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.App, Value: "shop"})

func (e *txEnv) key(store, user, session, item string) storage.Key {
	return appKey.With(storage.Part{Tag: storage.Store, Value: store}, storage.Part{Tag: storage.User, Value: user},
		storage.Part{Tag: storage.Session, Value: session}, storage.Part{Tag: storage.Item, Value: item})
}

func (e *txEnv) factKey(path string) storage.Key {
	if strings.HasPrefix(path, "project.") {
		return e.key("facts", "", "", path)
	}
	return e.key("facts", e.user, "", path)
}

func (e *txEnv) read(ctx context.Context, key storage.Key, into any) (bool, error) {
	r, err := e.tx.Get(ctx, key)
	if err != nil || !r.Exists() {
		return false, err
	}
	return true, json.Unmarshal(r.Content, into)
}

func (e *txEnv) write(ctx context.Context, key storage.Key, value any, expires time.Time) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return e.tx.Apply(ctx, key, func(*storage.Record, bool) (txn.State, any, error) {
		return txn.State{Content: content, Expires: expires}, nil, nil
	})
}

func (e *txEnv) Now() time.Time     { return e.now }
func (e *txEnv) Random() *rand.Rand { return e.random }

func (e *txEnv) Session(ctx context.Context) (agent.SessionState, error) {
	var s agent.SessionState
	_, err := e.read(ctx, e.key("sessions", "", e.session, ""), &s)
	return s, err
}

func (e *txEnv) SetSession(ctx context.Context, s agent.SessionState) error {
	return e.write(ctx, e.key("sessions", "", e.session, ""), s, time.Time{})
}

func (e *txEnv) State(ctx context.Context, name string) (*agent.State, error) {
	s := &agent.State{}
	if ok, err := e.read(ctx, e.key("agents", "", e.session, name), s); err != nil || !ok {
		return nil, err
	}
	return s, nil
}

func (e *txEnv) SetState(ctx context.Context, name string, s *agent.State) error {
	return e.write(ctx, e.key("agents", "", e.session, name), s, time.Time{})
}

func (e *txEnv) Kept(ctx context.Context, name string) (map[string]any, error) {
	var kept map[string]any
	_, err := e.read(ctx, e.key("kept", e.user, "", name), &kept)
	return kept, err
}

func (e *txEnv) SetKept(ctx context.Context, name string, variables map[string]any) error {
	return e.write(ctx, e.key("kept", e.user, "", name), variables, time.Time{})
}

func (e *txEnv) Fact(ctx context.Context, _, path string) (any, bool, error) {
	var value any
	ok, err := e.read(ctx, e.factKey(path), &value)
	return value, ok, err
}

func (e *txEnv) SetFact(ctx context.Context, _, path string, value any, o agent.FactOptions) error {
	var expires time.Time
	if o.TTL > 0 {
		expires = e.tx.Now().Add(o.TTL)
	}
	return e.write(ctx, e.factKey(path), value, expires)
}

func (e *txEnv) DeleteFact(ctx context.Context, _, path string) error {
	return e.tx.Apply(ctx, e.factKey(path), func(*storage.Record, bool) (txn.State, any, error) {
		return txn.State{}, nil, nil
	})
}

// UserMemory implements agent.Env. The user has no memory blocks.
func (e *txEnv) UserMemory(context.Context, string) (*report.MemoryContext, error) { return nil, nil }

func (e *txEnv) Context(ctx context.Context, name string, paths []string, domain string) ([]agent.Fact, error) {
	var facts []agent.Fact
	for _, path := range e.paths {
		in := domain != "" && strings.Split(path, ".")[1] == domain
		if !in && !slices.Contains(paths, path) {
			continue
		}
		value, ok, err := e.Fact(ctx, name, path)
		if err != nil {
			return nil, err
		}
		if ok {
			facts = append(facts, agent.Fact{Path: path, Value: value})
		}
	}
	return facts, nil
}

func (e *txEnv) Hide(func(text string) string) {}

func (e *txEnv) OnSearch(func(context.Context) error) {}

func (e *txEnv) Nested(ctx context.Context, body func(ctx context.Context) error) error {
	outer := e.tx
	defer func() { e.tx = outer }()
	return outer.Nested(ctx, func(ctx context.Context, tx *txn.Tx) error {
		e.tx = tx
		return body(ctx)
	})
}

func (e *txEnv) CallTool(ctx context.Context, _, tool string, input map[string]any) (any, error) {
	var output any
	err := e.tx.Nested(ctx, func(ctx context.Context, tx *txn.Tx) (err error) {
		nested := *e
		nested.tx = tx
		output, err = e.tool(ctx, &nested, tool, input)
		return err
	})
	if errors.Is(err, txn.ErrNestedLimit) {
		err = &abi.Fault{Code: abi.CallLimit, Message: "too many nested runs"}
	}
	return output, err
}

func (e *txEnv) Chat(_ context.Context, _, _ string, request model.ChatRequest) (model.ChatAnswer, error) {
	if e.chat != nil {
		return e.chat(request)
	}
	return model.ChatAnswer{}, &abi.Fault{Code: abi.Unavailable, Message: "no model answers"}
}
