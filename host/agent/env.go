package agent

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
)

// Env is the environment of a turn: the stored values, the tools and the models of one attempt of a
// transaction. Values are JSON values, represented as in package abl.
//
// An *abi.Fault is an error that an agent can handle. A turn ends with any other error, and its
// transaction must not commit.
type Env interface {
	// Now returns the time of the turn, which is the same in all attempts. Random is the source of
	// random ids.
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
	// variables. These variables belong to the user, or to the session if there is no user.
	Kept(ctx context.Context, agent string) (map[string]any, error)
	SetKept(ctx context.Context, agent string, variables map[string]any) error
	// Fact returns the value of a fact, and false if no value is stored. SetFact stores a value that
	// is not null. A trigger can append to a fact that its agent is not allowed to read.
	Fact(ctx context.Context, agent, path string) (value any, ok bool, err error)
	SetFact(ctx context.Context, agent, path string, value any, o FactOptions) error
	DeleteFact(ctx context.Context, agent, path string) error
	// Context returns the stored facts with the given paths. If domain is not "", Context also
	// returns the stored facts of the domain. A commit does not check whether the returned facts
	// have changed.
	Context(ctx context.Context, agent string, paths []string, domain string) ([]Fact, error)
	// UserMemory returns the memory blocks of the user and of an agent that are part of the prompts
	// of models, or nil if no such blocks exist. A commit does not check whether the returned
	// blocks have changed.
	UserMemory(ctx context.Context, agent string) (*report.MemoryContext, error)
	// Hide passes the function clean, which replaces the sensitive values in a text that a tool has
	// written, such as a log line. The turn calls Hide once, before it calls a tool. The function
	// clean replaces the sensitive values that the turn has used so far.
	Hide(clean func(text string) string)
	// OnSearch passes the function fire, which performs the recalls of the acting agent for the
	// event "search:before". The turn calls OnSearch once, before it calls a tool. Env calls the
	// function fire before each search of a tool.
	OnSearch(fire func(ctx context.Context) error)
	// Nested calls the function body. If body returns an error, Nested undoes the writes to facts
	// that body made.
	Nested(ctx context.Context, body func(ctx context.Context) error) error
	// CallTool executes a tool as a nested run and returns its output. If the nested run fails,
	// CallTool undoes the writes of the run and returns the fault of the run as error.
	CallTool(ctx context.Context, agent, tool string, input map[string]any) (any, error)
	// Chat sends a request to a model that the operator configured.
	Chat(ctx context.Context, agent, name string, request model.ChatRequest) (model.ChatAnswer, error)
}

// FactOptions are the options of Env.SetFact. With the zero value, the declaration of the fact
// determines the lifetime and the domain.
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
