package host

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// turn is the execution of a request to an agent. The request is for a turn or for an evaluation of
// rules.
type turn struct {
	job
	req Turn
	set *agent.Set
	// name is the kind of the request: turn, preview, fire, check or store. name is part of the
	// fingerprint of the request.
	name string
	// perform executes the request once.
	perform func(ctx context.Context, t *turn, env *agentEnv) error
	// answer returns the answer that is stored under the idempotency key. The answer is stored as
	// JSON.
	answer func(t *turn, effects report.Effects) any
	last   turnAttempt
	// endIdle is true if the turn ends the idle session of the caller.
	endIdle bool
}

// newTurn returns a turn that has not started yet.
func newTurn(h *Host, name string, req Turn) *turn {
	act := actEvaluate
	if name == actTurn {
		act = actTurn
	}
	inv := Invocation{
		Caller: req.Caller, Metadata: req.Metadata, SessionReference: req.SessionReference, UserReference: req.UserReference,
		Key: req.Key, DryRun: req.DryRun, Test: req.Test, Live: req.Live, Mocks: req.Mocks, Recalls: req.Recalls, Timeout: req.Timeout, OnLog: req.OnLog, OnState: req.OnState,
	}
	t := &turn{job: newJob(h, inv, act), req: req, name: name}
	t.info.Agent = req.Agent
	return t
}

// run performs the turn. The function "conclude" returns the result of the turn for the ledger, the
// meter and observers. The Host stays open until this method returns.
func (t *turn) run(ctx context.Context, conclude func(memory.Done, error) *report.Result) error {
	if ctx == nil {
		conclude(memory.Done{}, errNoContext)
		return errNoContext
	}
	if !t.h.activeTurns.Enter() {
		return t.end(ctx, false, conclude(memory.Done{}, errHostClosed))
	}
	defer t.h.activeTurns.Leave()
	done, err := t.execute(ctx)
	return t.end(ctx, done.Recorded, conclude(done, err))
}

// execute performs the turn in a transaction, unless it is refused.
func (t *turn) execute(ctx context.Context) (done memory.Done, err error) {
	if err := t.identify(ctx, "turn", t.find); err != nil {
		return done, err
	}
	if err := t.beginSession(); err != nil {
		return done, err
	}
	if t.fingerprint, err = t.makeFingerprint(); err != nil {
		return done, err
	}
	ctx, cancel := t.bounded(ctx, t.timeLimit())
	defer cancel()
	c := t.inv.Caller.as(t.info.ID)
	leave, err := t.h.queue.enter(ctx, sessionKey{c.Tenant, c.User, c.Session})
	if err != nil {
		return done, err
	}
	defer leave()
	tx := t.tx(memory.Authority{}, t.storedAnswer)
	tx.EndIdle = t.endIdle
	return t.h.memory.Transact(ctx, tx, t.attempt)
}

// find looks up the agents of the app.
func (t *turn) find() error {
	a := t.h.app
	switch {
	case len(a.BrokenAgents) > 0:
		p := a.BrokenAgents[0]
		f := abi.Faultf(abi.SourceInvalid, "the agents of the app have errors: %v", a.BrokenAgents)
		f.File, f.Line, f.Column = p.File, p.Line, p.Column
		return f.WithHint("run `toolrun check` to list all errors of the app")
	case a.AgentSet == nil:
		return abi.Faultf(abi.NotFound, "the app has no agents").WithHint("declare one in a file such as agents/booking.abl")
	case t.req.Variables != nil && (t.name == actTurn || t.name == previewName):
		return abi.Faultf(abi.InvalidArgument, "the request of a turn must not contain variables, because a turn uses the stored variables")
	}
	if err := t.req.MemoryPolicy.check(); err != nil {
		return err
	}
	if t.req.Agent != "" {
		if err := a.AgentSet.Find(t.req.Agent); err != nil {
			return err
		}
	}
	t.set, t.label = a.AgentSet, t.req.Agent
	return nil
}

// beginSession creates a session for the turn if the caller has none. If the turn has an
// idempotency key, a repetition of the turn has the same session as the first turn. An evaluation
// whose request contains variables needs no session.
func (t *turn) beginSession() error {
	c := &t.inv.Caller
	if c.Session != "" || t.req.Variables != nil {
		return nil
	}
	if t.inv.Key != "" {
		digest := sha256.Sum256([]byte(strings.Join([]string{t.h.app.ID, c.as("").Tenant, c.User, t.inv.Key}, "\x00")))
		c.Session = "sess_" + hex.EncodeToString(digest[:16])
	} else {
		id, err := t.h.newID("sess")
		if err != nil {
			return err
		}
		c.Session = id
	}
	c.Confined = false // the session is new, and the host has chosen its id
	t.info.Caller.Session = c.Session
	return nil
}

// timeLimit returns the time limit of the turn.
func (t *turn) timeLimit() time.Duration {
	return min(cmp.Or(t.inv.Timeout, DefaultTurnTimeout), t.h.limits.MaxTimeout)
}

// makeFingerprint returns the fingerprint of the request. makeFingerprint is the counterpart of
// run.makeFingerprint.
func (t *turn) makeFingerprint() (string, error) {
	if t.inv.Key == "" {
		return "", nil
	}
	variables, err := json.Marshal(t.req.Variables)
	if err != nil {
		return "", abi.Faultf(abi.InvalidArgument, "the variables are not JSON values: %v", err)
	}
	message, _ := json.Marshal(t.req.Message)     // a string or nil can always be encoded
	policy, _ := json.Marshal(t.req.MemoryPolicy) // execute has checked the policy
	return fingerprint(append([]part{
		{"request", []byte(t.name)}, {"agent", []byte(t.req.Agent)}, {"message", message}, {"event", []byte(t.req.Event)}, {"memory_policy", policy},
		{"variables", variables}, {"metadata", t.h.limits.canonical(t.inv.Metadata)},
	}, t.inv.mocksPart()...)), nil
}

// attempt waits until the gate has admitted the turn. Then it executes the turn once, with a new
// View.
func (t *turn) attempt(ctx context.Context, v *memory.View) error {
	t.attempts++
	t.info.Attempt = t.attempts
	t.last, t.info.UnrecordedMessages = turnAttempt{}, 0
	e := Execution{Began: time.Now()}
	t.setState(RunQueued)
	if e.Err = t.admit(ctx); e.Err == nil {
		e.QueueTime = time.Since(e.Began)
		t.admitted(ctx, v, &e)
	} else {
		e.QueueTime = time.Since(e.Began)
	}
	for _, o := range t.h.observers {
		o.AttemptEnded(ctx, t.info, e)
	}
	return e.Err
}

// admitted executes the turn. The gate has already admitted the turn.
func (t *turn) admitted(ctx context.Context, v *memory.View, e *Execution) {
	defer func() {
		if t.last.outside == nil {
			leave(&t.job)
		}
	}()
	t.setState(RunRunning)
	t.executed = true
	used := threadCPU()
	e.Err = t.performOn(ctx, v)
	e.CPU = used() + t.last.cpu
	e.Duration = time.Since(e.Began) - e.QueueTime
	t.cpu += e.CPU
}

func (t *turn) performOn(ctx context.Context, v *memory.View) (err error) {
	if err := beginExternal(ctx, &t.job, v); err != nil {
		return stoppedFault(err)
	}
	defer func() { noteExternal(&t.job, t.ledger) }()
	seed, err := v.Seed()
	if err != nil {
		return err
	}
	memory.SetEmbedder(v, embeddings{&t.job, v, ctx, nil})
	memory.SetMocks(v, t.inv.Recalls, t.inv.Test)
	if err = performSafely(ctx, t, newAgentEnv(t, v, seed)); err == nil && v.Err() == nil {
		err = memory.Complete(ctx, v) // the turn must have a slot at the gate
	}
	if v.Err() != nil { // if the run was stopped, the agent cannot hide this by handling the fault
		return stoppedFault(v.Err())
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if t.last.outside != nil {
		return t.last.outside
	}
	return stoppedFault(err)
}

// stoppedFault converts the error of a stopped run to a fault. stoppedFault returns any other error
// unchanged.
func stoppedFault(err error) error {
	if s, ok := errors.AsType[*stop](err); ok {
		return s.fault
	}
	return err
}

// performSafely executes the request, and converts a panic of the interpreter to a fault. If an
// agent triggers a bug in the interpreter, the process must not end.
func performSafely(ctx context.Context, t *turn, env *agentEnv) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			t.h.log.Error("the execution of an agent panicked", "turn", t.info.ID, "agent", t.info.Agent, "panic", cause, "stack", string(debug.Stack()))
			err = abi.Faultf(abi.Internal, "the agent failed because of a bug in the host")
		}
	}()
	return t.perform(ctx, t, env)
}

// addressed records the name of the agent that performs the turn.
func (t *turn) addressed(name string) {
	if t.info.Agent = name; t.ledger != nil {
		t.ledger.Tool = name
	}
	t.label = name
}

// storedAnswer returns the answer that is stored under the idempotency key.
func (t *turn) storedAnswer(effects report.Effects) ([]byte, error) {
	text, err := json.Marshal(t.answer(t, effects))
	if err != nil {
		t.h.log.Error("cannot encode a turn as JSON", "turn", t.info.ID, "error", err)
		return nil, abi.FaultOf(err)
	}
	return text, nil
}

// errUnreadableAnswer is the fault of a repeated turn whose stored answer is invalid.
var errUnreadableAnswer = abi.Faultf(abi.Internal, "cannot read the stored result of the earlier turn")

// fault converts the error of a turn to the fault that the caller gets.
func (t *turn) fault(err error) *abi.Fault {
	f := t.faultOf(err)
	if f.Code == abi.Timeout && f.Hint == "" {
		return f.WithHint("raise the timeout of the request, or the host's limit")
	}
	return f
}
