package host

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
)

// Agents is a handle for the agents of an app. Agents is safe for concurrent use.
type Agents struct{ h *Host }

// Agents returns a handle for the app's agents.
func (h *Host) Agents() Agents { return Agents{h} }

// Turn is a request to an agent. Each request is one transaction, which stores either all changes
// of the turn or no changes.
type Turn struct {
	// Agent is the agent that performs the turn. If Agent is "", the agent that answers in the
	// session performs the turn. The first turn of a session must select an agent, unless the app
	// has only one agent.
	Agent string
	// Caller is the caller. If Caller.Session is "", the turn begins a new session, and the result
	// contains the id of this session.
	Caller Caller
	// Message is the message of the user. If Message is nil, a turn begins the flow. If a step is
	// waiting for an answer, the turn repeats the question of this step. Fire, Check and Store use
	// the message only as the value of the variable "input".
	Message *string
	// Event is an event to fire instead of a message, such as tool:search:after.
	Event string
	// Variables contains the session variables of a platform that has its own agent loop. If
	// Variables is not nil, Fire, Check and Store use these variables instead of the stored
	// variables. Turn and Preview reject Variables.
	Variables map[string]any
	// MemoryPolicy determines which blocks of the user are part of a model's prompt.
	MemoryPolicy MemoryPolicy
	// Metadata, SessionReference, UserReference, Key and DryRun have the same meaning as in
	// Invocation.
	Metadata         json.RawMessage
	SessionReference string
	UserReference    string
	Key              string
	DryRun           bool
	// Test, Live, Mocks and Recalls have the same meaning as in Invocation.
	Test    bool
	Live    bool
	Mocks   model.Mocks
	Recalls memory.RecallMocks
	// Timeout is the time limit of the turn. The execution of tools and the time in queues count
	// toward this limit. The default is DefaultTurnTimeout, and the maximum is Limits.MaxTimeout.
	Timeout time.Duration
	// OnState is called with the id of the turn whenever the state of the turn changes. OnLog is
	// called for each log line of a tool. See Invocation.
	OnState func(id string, state RunState)
	OnLog   func(attempt int, line abi.LogLine)
}

// DefaultTurnTimeout is the time limit of a turn without a Timeout.
const DefaultTurnTimeout = 180 * time.Second

// AgentInfo describes an agent.
type AgentInfo struct {
	Name string
	Goal string
	// File is the file that declares the agent, relative to the folder of the app.
	File string
	// Tools are the tools that the agent calls or offers to a model. Facts are the paths of the
	// facts that the agent declares. Events are the events at which the agent recalls facts. All
	// are sorted.
	Tools, Facts, Events []string
}

// List returns the agents of the app, sorted by name. List also returns agents with errors.
func (a Agents) List() []AgentInfo {
	list := make([]AgentInfo, 0, len(a.h.app.Agents))
	for _, d := range a.h.app.Agents {
		info := AgentInfo{Name: d.Agent.Value, Goal: d.Goal.Value, File: d.File, Tools: d.ToolNames()}
		for _, f := range d.Memory.Persistent {
			info.Facts = append(info.Facts, f.Value)
		}
		for _, r := range d.Memory.Recalls {
			info.Events = append(info.Events, r.Event.String())
		}
		for _, names := range []*[]string{&info.Facts, &info.Events} {
			slices.Sort(*names)
			*names = slices.Compact(*names)
		}
		list = append(list, info)
	}
	slices.SortFunc(list, func(a, b AgentInfo) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Turn performs one turn of a conversation. The returned result is never nil. If the turn fails,
// the returned error is the same fault as in the result, as with Host.Run. Turns of one session run
// one after the other, in the order in which they were requested.
func (a Agents) Turn(ctx context.Context, req Turn) (*report.Turn, error) {
	t := newTurn(a.h, actTurn, req)
	t.answer = func(t *turn, effects report.Effects) any {
		return turnResult(t, memory.Done{Effects: effects}, nil)
	}
	t.perform = func(ctx context.Context, t *turn, env *agentEnv) (err error) {
		if t.last.outcome, err = t.set.Turn(ctx, env, t.agentRequest()); err != nil {
			return err
		}
		return recordMessages(ctx, t, env.view)
	}
	var result *report.Turn
	err := t.run(ctx, func(done memory.Done, err error) *report.Result {
		result = turnResult(t, done, err)
		return runResult(t, result.TurnID, result.Error, result.Effects, result.Repeated)
	})
	return result, err
}

// Fire fires the event in req, and returns the facts and instructions that the agent's recalls add.
// Fire is meant for platforms with their own agent loop. No flow is executed.
func (a Agents) Fire(ctx context.Context, req Turn) (*report.Evaluation, error) {
	return a.evaluate(ctx, "fire", req, agent.Rules{Event: req.Event}, (*agent.Set).Fire)
}

// Check checks the constraints of an agent at a checkpoint. Check is intended for platforms that
// have their own agent loop. The argument "before" selects the checkpoint. The argument "before" is
// "calling TOOL" before a tool call, and "returning results" before an answer. If the argument
// "before" is "", Check checks the constraints that apply to each step.
func (a Agents) Check(ctx context.Context, req Turn, before string) (*report.Evaluation, error) {
	rules := agent.Rules{Checkpoint: agent.CheckpointStep}
	switch tool, calling := strings.CutPrefix(before, "calling "); {
	case calling && tool != "":
		rules.Checkpoint, rules.Tool = agent.CheckpointCalling, tool
	case before == "returning results":
		rules.Checkpoint = agent.CheckpointReturning
	case before != "":
		rules.Checkpoint = before // agent.Set.Check rejects unknown checkpoints
	}
	return a.evaluate(ctx, "check "+before, req, rules, (*agent.Set).Check)
}

// Store evaluates the triggers of an agent, like the end of a turn does. Store is intended for
// platforms that have their own agent loop.
func (a Agents) Store(ctx context.Context, req Turn) (*report.Evaluation, error) {
	return a.evaluate(ctx, "store", req, agent.Rules{}, (*agent.Set).Store)
}

// evaluate performs an evaluation of rules.
func (a Agents) evaluate(ctx context.Context, name string, req Turn, rules agent.Rules, eval evaluator) (*report.Evaluation, error) {
	rules.Agent, rules.Variables = req.Agent, req.Variables
	if req.Message != nil {
		rules.Message, rules.HasMessage = *req.Message, true
	}
	t := newTurn(a.h, name, req)
	t.answer = func(t *turn, effects report.Effects) any {
		return evaluationResult(t, memory.Done{Effects: effects}, nil)
	}
	t.perform = func(ctx context.Context, t *turn, env *agentEnv) (err error) {
		t.last.evaluation, err = eval(t.set, ctx, env, rules)
		return err
	}
	var result *report.Evaluation
	err := t.run(ctx, func(done memory.Done, err error) *report.Result {
		result = evaluationResult(t, done, err)
		return runResult(t, result.TurnID, result.Error, result.Effects, result.Repeated)
	})
	return result, err
}

// evaluator is the type of those methods of agent.Set that evaluate rules.
type evaluator func(*agent.Set, context.Context, agent.Env, agent.Rules) (*report.RuleOutcome, error)
