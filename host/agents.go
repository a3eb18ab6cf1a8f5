package host

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
)

// Agents is a handle for the agents of an app. It is safe for concurrent use.
type Agents struct{ h *Host }

// Agents returns a handle for the app's agents.
func (h *Host) Agents() Agents { return Agents{h} }

// Turn is a request to an agent. Each request is one transaction: it stores all its changes or none.
type Turn struct {
	// Agent is the agent to address. The default is the agent that answers in the session. The first
	// turn of a session must name an agent, unless the app has only one.
	Agent string
	// Caller is the caller. Without Caller.Session, the turn begins a session, whose id is in the
	// result.
	Caller Caller
	// Message is the message of the user. Without a message, a turn begins the flow, or repeats the
	// question of the step that waits.
	Message *string
	// Event is an event to fire instead of a message, such as tool:search:after.
	Event string
	// Variables are the session variables of a platform that has its own agent loop. Fire, Check
	// and Store use them instead of the stored variables, and Turn rejects them. Nil means the
	// stored variables.
	Variables map[string]any
	// Metadata, SessionReference, UserReference, Key and DryRun are as in an Invocation.
	Metadata         json.RawMessage
	SessionReference string
	UserReference    string
	Key              string
	DryRun           bool
	// Timeout is the time limit of the turn, including its tools and the time in queues. The default
	// is DefaultTurnTimeout, and the maximum is Limits.MaxTimeout.
	Timeout time.Duration
	// OnState is called with the id of the turn whenever its state changes. OnLog is called for each
	// log line of a tool. See Invocation.
	OnState func(id string, state RunState)
	OnLog   func(attempt int, line abi.LogLine)
}

// DefaultTurnTimeout is the time limit of a turn that sets none.
const DefaultTurnTimeout = 180 * time.Second

// AgentInfo describes an agent.
type AgentInfo struct {
	Name string
	Goal string
	// File is the file that declares the agent, relative to the folder of the app.
	File string
	// Tools are the tools that the agent calls or offers to a model. Facts are the paths of the
	// facts that it declares. Events are the events at which it recalls facts. All are sorted.
	Tools, Facts, Events []string
}

// List returns the agents of the app, sorted by name.
func (a Agents) List() []AgentInfo { return []AgentInfo{} }

// Turn performs one turn of a conversation. The result is never nil. If the turn fails, the error is
// the fault in the result, as in Host.Run. Turns of one session run one after the other, in the order
// in which they were requested.
func (a Agents) Turn(ctx context.Context, t Turn) (*report.Turn, error) { return a.perform(ctx, t) }

// Fire fires the event of a turn and returns what the agent's recalls inject, for a platform that has
// its own agent loop. No flow is executed.
func (a Agents) Fire(ctx context.Context, t Turn) (*report.Evaluation, error) {
	return a.evaluate(ctx, t)
}

// Check checks the constraints of an agent at a checkpoint, for a platform that has its own agent
// loop. before is "" for the constraints of each step, "calling TOOL" or "returning results".
func (a Agents) Check(ctx context.Context, t Turn, before string) (*report.Evaluation, error) {
	return a.evaluate(ctx, t)
}

// Store evaluates the triggers of an agent, as at the end of a turn, for a platform that has its own
// agent loop.
func (a Agents) Store(ctx context.Context, t Turn) (*report.Evaluation, error) {
	return a.evaluate(ctx, t)
}

// noAgent returns the fault of a request to an agent that does not exist: an app has no agents yet.
func noAgent(t Turn) *abi.Fault {
	return abi.Faultf(abi.NotFound, "the agent %q does not exist", t.Agent).WithHint("the app declares no agents")
}

func (a Agents) perform(_ context.Context, t Turn) (*report.Turn, error) {
	f := noAgent(t)
	return &report.Turn{
		Agent: t.Agent, Session: t.Caller.Session, Error: f,
		Messages: []string{}, Variables: map[string]any{}, Injected: map[string]any{}, Instructions: []string{}, Warnings: []string{},
		Trace: []report.TurnTrace{}, Logs: []abi.LogLine{}, Effects: noEffects(),
	}, f
}

func (a Agents) evaluate(_ context.Context, t Turn) (*report.Evaluation, error) {
	f := noAgent(t)
	return &report.Evaluation{
		Agent: t.Agent, Session: t.Caller.Session, Error: f, Failures: []report.EvaluationFault{},
		Injected: map[string]any{}, Instructions: []string{}, Stored: map[string]any{}, Warnings: []string{},
		Trace: []report.TurnTrace{}, Effects: noEffects(),
	}, f
}

func noEffects() report.Effects {
	return report.Effects{Reads: []report.ReadEffect{}, Writes: []report.WriteEffect{}}
}
