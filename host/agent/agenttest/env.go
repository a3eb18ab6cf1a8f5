// Package agenttest provides an environment for tests of agents. The environment stores its data in
// memory.
package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
)

// ToolFunc is a tool. ToolFunc can read and write the facts of the environment. If a ToolFunc
// returns an error, the facts that it has written are restored.
type ToolFunc func(ctx context.Context, e *Env, input map[string]any) (any, error)

// Env is an environment of agents that stores its data in memory. Env stores values as JSON. Env is
// not safe for concurrent use.
type Env struct {
	// Clock is the current time. Clock determines which facts have expired.
	Clock time.Time
	// User and SessionID identify the caller. Facts of the user belong to User, and so do variables
	// that are never reset. States of agents belong to SessionID.
	User, SessionID string
	// Tools maps the name of a tool to the tool.
	Tools map[string]ToolFunc
	// Search performs recalls. A turn sets Search by calling OnSearch, which is documented in
	// agent.Env. Before a tool searches the memory, it calls Search.
	Search func(ctx context.Context) error
	// Model answers the requests of a turn, for all models. If Model is nil, all requests to models
	// fail.
	Model func(name string, request model.ChatRequest) (model.ChatAnswer, error)
	// Memory is the memory of the user, which prompts contain. If the user has no memory, Memory is
	// nil.
	Memory *report.MemoryContext
	// Scopes maps the path of a fact to the scope of the fact. If Scopes does not contain a path,
	// the first name of the path determines the scope.
	Scopes map[string]abl.FactScope

	// Calls contains all calls to tools. Prompts contains all requests to models. Calls and Prompts
	// are in the order in which they were made.
	Calls   []Call
	Prompts []model.ChatRequest

	random *rand.Rand
	stored storage
}

var _ agent.Env = (*Env)(nil)

// Call is a call to a tool.
type Call struct {
	Tool  string
	Input map[string]any
}

// storage contains everything that a turn can change. All values are JSON.
type storage struct {
	sessions, states, kept map[string][]byte
	facts                  map[string]fact
}

type fact struct {
	content []byte
	domain  string
	expires time.Time // the zero time if the fact does not expire
}

func (s storage) clone() storage {
	return storage{maps.Clone(s.sessions), maps.Clone(s.states), maps.Clone(s.kept), maps.Clone(s.facts)}
}

// New returns an empty environment. Its user is "ann", its session is "s1", and its date is 23
// November 2026.
func New() *Env {
	return &Env{
		Clock:     time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC),
		User:      "ann",
		SessionID: "s1",
		Tools:     map[string]ToolFunc{},
		Scopes:    map[string]abl.FactScope{},
		random:    rand.New(rand.NewPCG(1, 2)),
		stored:    storage{map[string][]byte{}, map[string][]byte{}, map[string][]byte{}, map[string]fact{}},
	}
}

// Turn performs a turn in a transaction. If the turn fails, Turn has no effect.
func (e *Env) Turn(ctx context.Context, set *agent.Set, r agent.Request) (*report.Outcome, error) {
	var outcome *report.Outcome
	err := e.Transaction(ctx, func(ctx context.Context) (err error) {
		outcome, err = set.Turn(ctx, e, r)
		return err
	})
	return outcome, err
}

// Transaction calls the function "body". If the function "body" returns an error, Transaction
// undoes its changes.
func (e *Env) Transaction(ctx context.Context, body func(ctx context.Context) error) error {
	before := e.stored.clone()
	err := body(ctx)
	if err != nil {
		e.stored = before
	}
	return err
}

// Say performs a turn that has a message.
func (e *Env) Say(ctx context.Context, set *agent.Set, message string) (*report.Outcome, error) {
	return e.Turn(ctx, set, agent.Request{Message: message, HasMessage: true})
}

// Dump returns all stored values, so that a test can compare environments. The keys identify the
// values.
func (e *Env) Dump() map[string]string {
	all := map[string]string{}
	for kind, values := range map[string]map[string][]byte{"session": e.stored.sessions, "state": e.stored.states, "kept": e.stored.kept} {
		for key, content := range values {
			all[kind+" "+key] = string(content)
		}
	}
	for key, f := range e.stored.facts {
		all["fact "+key] = string(f.content) + " " + f.domain + " " + f.expires.String()
	}
	return all
}

// SetStored stores the value of a fact, without a turn. If the argument "ttl" is 0, the fact does
// not expire.
func (e *Env) SetStored(path string, value any, ttl time.Duration, domain string) {
	f := fact{content: encode(value), domain: domain}
	if domain == "" {
		f.domain = domainOf(path)
	}
	if ttl > 0 {
		f.expires = e.Clock.Add(ttl)
	}
	e.stored.facts[e.factKey(path)] = f
}

// Stored returns the stored value of a fact. The second result reports whether the fact is stored
// and has not expired.
func (e *Env) Stored(path string) (any, bool) {
	f, ok := e.live(e.factKey(path))
	if !ok {
		return nil, false
	}
	var value any
	decode(f.content, &value)
	return value, true
}

// Expires returns the time at which a fact expires. If the fact does not expire, the result is the
// zero time.
func (e *Env) Expires(path string) time.Time { return e.stored.facts[e.factKey(path)].expires }

func (e *Env) live(key string) (fact, bool) {
	f, ok := e.stored.facts[key]
	return f, ok && (f.expires.IsZero() || e.Clock.Before(f.expires))
}

// factKey returns the key under which a fact is stored. The key starts with the owner of the fact.
func (e *Env) factKey(path string) string {
	scope := e.Scopes[path]
	first, _, _ := strings.Cut(path, ".")
	switch {
	case scope == abl.ScopeProject, scope == "" && first == "project":
		return "project/" + path
	case scope == abl.ScopeTree, scope == "" && (first == "workflow" || first == "execution_tree"):
		return "session/" + e.SessionID + "/" + path
	}
	return "user/" + e.User + "/" + path
}

func domainOf(path string) string {
	names := strings.Split(path, ".")
	return names[min(1, len(names)-1)]
}

// Now implements agent.Env.
func (e *Env) Now() time.Time { return e.Clock }

// Random implements agent.Env.
func (e *Env) Random() *rand.Rand { return e.random }

// Session implements agent.Env.
func (e *Env) Session(context.Context) (agent.SessionState, error) {
	var s agent.SessionState
	decode(e.stored.sessions[e.SessionID], &s)
	return s, nil
}

// SetSession implements agent.Env.
func (e *Env) SetSession(_ context.Context, s agent.SessionState) error {
	e.stored.sessions[e.SessionID] = encode(s)
	return nil
}

// State implements agent.Env.
func (e *Env) State(_ context.Context, name string) (*agent.State, error) {
	content, ok := e.stored.states[e.SessionID+"/"+name]
	if !ok {
		return nil, nil
	}
	s := &agent.State{}
	decode(content, s)
	return s, nil
}

// SetState implements agent.Env.
func (e *Env) SetState(_ context.Context, name string, s *agent.State) error {
	e.stored.states[e.SessionID+"/"+name] = encode(s)
	return nil
}

// Kept implements agent.Env.
func (e *Env) Kept(_ context.Context, name string) (map[string]any, error) {
	var variables map[string]any
	decode(e.stored.kept[e.User+"/"+name], &variables)
	return variables, nil
}

// SetKept implements agent.Env.
func (e *Env) SetKept(_ context.Context, name string, variables map[string]any) error {
	e.stored.kept[e.User+"/"+name] = encode(variables)
	return nil
}

// Fact implements agent.Env.
func (e *Env) Fact(_ context.Context, _, path string) (any, bool, error) {
	value, ok := e.Stored(path)
	return value, ok, nil
}

// SetFact implements agent.Env.
func (e *Env) SetFact(_ context.Context, _, path string, value any, o agent.FactOptions) error {
	e.SetStored(path, value, o.TTL, o.Domain)
	return nil
}

// DeleteFact implements agent.Env.
func (e *Env) DeleteFact(_ context.Context, _, path string) error {
	delete(e.stored.facts, e.factKey(path))
	return nil
}

// Context implements agent.Env. The returned facts are sorted by path.
func (e *Env) Context(_ context.Context, _ string, paths []string, domain string) ([]agent.Fact, error) {
	var facts []agent.Fact
	for _, key := range slices.Sorted(maps.Keys(e.stored.facts)) {
		f, ok := e.live(key)
		path := key[strings.LastIndexByte(key, '/')+1:]
		if !ok || e.factKey(path) != key || !slices.Contains(paths, path) && (domain == "" || f.domain != domain) {
			continue
		}
		var value any
		decode(f.content, &value)
		facts = append(facts, agent.Fact{Path: path, Value: value, Domain: f.domain})
	}
	return facts, nil
}

// UserMemory implements agent.Env. The memory is the same for all agents.
func (e *Env) UserMemory(context.Context, string) (*report.MemoryContext, error) {
	return e.Memory, nil
}

// Hide implements agent.Env. Tools in this environment write no log.
func (e *Env) Hide(func(text string) string) {}

// OnSearch implements agent.Env. Before a tool searches, it calls the function in the field
// "Search".
func (e *Env) OnSearch(fire func(context.Context) error) { e.Search = fire }

// Nested implements agent.Env.
func (e *Env) Nested(ctx context.Context, body func(ctx context.Context) error) error {
	return e.Transaction(ctx, body)
}

// CallTool implements agent.Env. If a tool returns an error that is not a fault, CallTool returns a
// fault with the code tool_error.
func (e *Env) CallTool(ctx context.Context, _, tool string, input map[string]any) (any, error) {
	e.Calls = append(e.Calls, Call{tool, input})
	call := e.Tools[tool]
	if call == nil {
		return nil, abi.Faultf(abi.NotFound, "unknown tool %s", tool)
	}
	var output any
	err := e.Transaction(ctx, func(ctx context.Context) error {
		result, err := call(ctx, e, input)
		if err == nil {
			decode(encode(result), &output)
		}
		return err
	})
	var fault *abi.Fault
	if err != nil && !errors.As(err, &fault) {
		err = abi.Faultf(abi.ToolError, "%s", err.Error())
	}
	return output, err
}

// Chat implements agent.Env.
func (e *Env) Chat(_ context.Context, _, name string, request model.ChatRequest) (model.ChatAnswer, error) {
	e.Prompts = append(e.Prompts, request)
	if e.Model == nil {
		return model.ChatAnswer{}, abi.Faultf(abi.Unavailable, "unknown model %s", name)
	}
	return e.Model(name, request)
}

// encode returns a value as JSON. If JSON cannot represent the value, the function panics, because
// the test or the interpreter contains a mistake.
func encode(value any) []byte {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return content
}

func decode(content []byte, value any) {
	if len(content) == 0 {
		return
	}
	if err := json.Unmarshal(content, value); err != nil {
		panic(err)
	}
}
