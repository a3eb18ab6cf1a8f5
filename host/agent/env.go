package agent

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
)

// Env is the environment of a turn. It provides the stored values, the tools and the models of one
// attempt to execute a transaction. Values are JSON values in the representation of package abl.
//
// An error of type *abi.Fault can be handled by the agent. Any other error ends the turn, and the
// transaction of the turn must not commit.
type Env interface {
	// Now returns the time of the turn. This time is the same in all attempts of the turn's
	// transaction. Random is the source of random ids.
	Now() time.Time
	Random() *rand.Rand
	// Session returns the state of the session, or the zero value in a new session.
	Session(ctx context.Context) (SessionState, error)
	SetSession(ctx context.Context, s SessionState) error
	// State returns the state of an agent in the session, or nil if the agent has not been active.
	// The turn modifies the returned state.
	State(ctx context.Context, agent string) (*State, error)
	SetState(ctx context.Context, agent string, s *State) error
	// Kept returns the variables of an agent that are never reset, or nil if the agent has no such
	// variables. These variables belong to the user, or to the session if no user exists.
	Kept(ctx context.Context, agent string) (map[string]any, error)
	SetKept(ctx context.Context, agent string, variables map[string]any) error
	// Fact returns the value of a fact. If no value is stored, the second result is false. SetFact
	// stores the value of a fact. The value must not be null. Fact also reads the facts to which a
	// trigger of the agent appends, even if the agent is not allowed to read them.
	Fact(ctx context.Context, agent, path string) (value any, ok bool, err error)
	SetFact(ctx context.Context, agent, path string, value any, o FactOptions) error
	DeleteFact(ctx context.Context, agent, path string) error
	// Context returns the stored facts with the given paths. If the argument "domain" is not "",
	// Context also returns the stored facts of this domain. The commit does not check whether the
	// facts that Context returned have changed since then.
	Context(ctx context.Context, agent string, paths []string, domain string) ([]Fact, error)
	// UserMemory returns the memory blocks that are part of the prompts of models, or nil if no
	// such blocks exist. The blocks belong to the user and the agent. The commit does not check
	// whether the blocks that UserMemory returned have changed since then.
	UserMemory(ctx context.Context, agent string) (*report.MemoryContext, error)
	// Hide passes the function "clean" to Env. This function replaces the sensitive values in a
	// text that a tool has written, such as a log line. The turn calls Hide once, before it calls a
	// tool. The function "clean" replaces the sensitive values that the turn has used so far.
	Hide(clean func(text string) string)
	// OnSearch passes the function "fire" to Env. This function performs the recalls that the
	// acting agent declares for the event "search:before". The turn calls OnSearch once, before it
	// calls a tool. Env calls the function "fire" before each search of a tool.
	OnSearch(fire func(ctx context.Context) error)
	// Nested calls the function "body". If the function "body" returns an error, Nested undoes the
	// writes to facts that this function made.
	Nested(ctx context.Context, body func(ctx context.Context) error) error
	// CallTool executes a tool as a nested run and returns its output. If the nested run fails,
	// CallTool undoes the writes of the run and returns the fault of the run as its error.
	CallTool(ctx context.Context, agent, tool string, input map[string]any) (any, error)
	// Chat sends a request to a model that the operator configured.
	Chat(ctx context.Context, agent, name string, request model.ChatRequest) (model.ChatAnswer, error)
}

// FactOptions contains the options of Env.SetFact. If a field is zero, the value in the declaration
// of the fact applies.
type FactOptions struct {
	TTL    time.Duration
	Domain string
}

// Fact is a stored fact.
type Fact struct {
	Path   string
	Value  any
	Domain string
}
