package double

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
)

// run is an open run: an execution of Host.Run in which the client replaces the tool code.
type run struct {
	host     *opened
	began    chan start
	commands chan command
	replies  chan outcome
	ended    chan struct{} // closed when Host.Run has returned and end is set
	end      ending
	attempts int                   // used only by the goroutine of Host.Run
	injected map[string]*abi.Fault // faults of "refuse" requests that the client has received, by id
}

// start receives the documents for the tool code.
type start struct {
	Run     string          `json:"run"`
	RunID   string          `json:"run_id"`
	Input   json.RawMessage `json:"input"`
	Context json.RawMessage `json:"context"`
}

// command is a call of the client, or the end of the run. The end contains a fault or an output.
type command struct {
	call   *abi.Call
	fault  *abi.Fault
	output engine.Output
}

// outcome is the reply to a call, or the fault of the call.
type outcome struct {
	reply json.RawMessage
	fault *abi.Fault
}

// ending contains the results of Host.Run.
type ending struct {
	result, effects any
	err             error
}

type beginRequest struct {
	envelope
	User    string `json:"user"`
	Session string `json:"session"`
	// Agent is the id of the agent that is active for the caller.
	Agent string `json:"agent"`
	// Workflow is the id of the workflow that the run belongs to.
	Workflow string `json:"workflow"`
	// Tool is the name of a declared tool; see toolNamed.
	Tool             string            `json:"tool"`
	Input            json.RawMessage   `json:"input"`
	Context          json.RawMessage   `json:"context"`
	Env              map[string]string `json:"env"`
	Metadata         json.RawMessage   `json:"metadata"`
	SessionReference string            `json:"session_reference"`
	UserReference    string            `json:"user_reference"`
	// Mocks contains the answers of models, by model name, and the results of recall. If there are
	// no mocks, there are no models.
	Mocks json.RawMessage `json:"mocks"`
	// Test makes the run a test run.
	Test bool `json:"test"`
}

// begin starts a run for later requests. begin returns an error if the host rejects the run.
func (i *instance) begin(ctx context.Context, r beginRequest) (any, error) {
	if len(i.runs) >= maxRuns {
		return nil, abi.Faultf(abi.QuotaExceeded, "the limit of %d open runs is reached", maxRuns).WithHint("commit or roll back runs")
	}
	var err error
	if r.Tool, err = i.toolNamed(r.Tool); err != nil {
		return nil, err
	}
	begun, s, err := i.start(ctx, r)
	if err != nil {
		return nil, err
	}
	i.begun++
	s.Run = "r" + strconv.Itoa(i.begun)
	i.runs[s.Run] = begun
	return s, nil
}

// start starts a run.
func (i *instance) start(ctx context.Context, b beginRequest) (*run, start, error) {
	o, err := i.open(ctx)
	if err != nil {
		return nil, start{}, err
	}
	var mocks model.Mocks
	var recalls memory.RecallMocks
	if len(b.Mocks) > 0 {
		if mocks, recalls, err = host.ReadMocks(b.Mocks); err != nil {
			return nil, start{}, err
		}
	}
	id := ""
	r := &run{
		host: o, began: make(chan start, 1), commands: make(chan command), replies: make(chan outcome),
		ended: make(chan struct{}), injected: map[string]*abi.Fault{},
	}
	inv := host.Invocation{
		Tool: b.Tool, Caller: host.Caller{User: b.User, Session: b.Session, Agent: b.Agent, Workflow: b.Workflow}, Input: b.Input, Context: b.Context,
		Mocks: mocks, Recalls: recalls, Test: b.Test, Env: b.Env, Metadata: b.Metadata, SessionReference: b.SessionReference, UserReference: b.UserReference,
		OnState: func(run string, _ host.RunState) { id = run },
	}
	o.runs++
	go func() {
		defer close(r.ended)
		result, err := o.host.Run(context.WithValue(ctx, runKey{}, r), inv)
		r.end = ending{result: result, effects: result.Effects, err: err}
	}()
	select {
	case s := <-r.began:
		s.RunID = id
		return r, s, nil
	case <-r.ended:
		r.left()
		return nil, start{}, r.end.err
	}
}

type endRequest struct {
	envelope
	Run string `json:"run"`
}

type commitRequest struct {
	endRequest
	// Output is the return value of the tool. Context contains the context keys that the tool has
	// added or changed.
	Output   json.RawMessage `json:"output"`
	Context  json.RawMessage `json:"context"`
	Warnings []string        `json:"warnings"`
}

type rollbackRequest struct {
	endRequest
	// Error is the failure of the tool. Error.ID is the id of the fault that the tool did not
	// handle, or "" if there is none.
	Error *abi.Fault `json:"error"`
}

// commit ends a successful run and returns its Result.
func (i *instance) commit(_ context.Context, r commitRequest) (any, error) {
	return i.finish(r.Run, command{output: engine.Output{Output: r.Output, Context: r.Context, Warnings: r.Warnings}})
}

// rollback ends a failed run and returns its Result.
func (i *instance) rollback(_ context.Context, r rollbackRequest) (any, error) {
	if r.Error == nil {
		r.Error = rolledBack()
	}
	return i.finish(r.Run, command{fault: r.Error})
}

func (i *instance) finish(id string, c command) (any, error) {
	r := i.runs[id]
	if r == nil {
		return nil, noRun(id)
	}
	delete(i.runs, id)
	return r.finish(c).result, nil
}

// finish ends the run.
func (r *run) finish(c command) ending {
	select {
	case r.commands <- c:
		<-r.ended
	case <-r.ended: // an earlier call has already ended the run
	}
	r.left()
	return r.end
}

// left closes the host of a run that has ended, if the host is no longer needed.
func (r *run) left() {
	r.host.runs--
	r.host.closeUnused()
}

func noRun(id string) error {
	return abi.Faultf(abi.NotFound, "the run %q is not open", shortened(id)).WithHint(`start a run with {"do":"begin"}`)
}
