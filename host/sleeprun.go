package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/sleep"
)

// sleepRun is a run that processes the transcript of a session. sleepRun reads the transcript and
// the blocks, asks a tool or a model for proposals, and stores the proposals. The run is one
// transaction. If a block is changed during the run, the run is executed again with the new content
// of the block.
type sleepRun struct {
	// turn executes the run. A sleepRun has no agent.
	turn  *turn
	lease *memory.Lease
	// authority contains the rights that the run has on the app's blocks.
	authority memory.Authority
	// dropped contains the proposals that the last attempt has dropped. The dropped proposals are
	// reported in the log.
	dropped []droppedProposal
}

// droppedProposal describes a proposal that was rejected twice. droppedProposal does not contain
// the proposed text.
type droppedProposal struct{ block, scope, reason string }

// newSleepRun returns a run that has not started yet. The caller of the run has the user of the
// session. The caller also has the agent that was active last, but no session.
func newSleepRun(h *Host, lease *memory.Lease) *sleepRun {
	caller := Caller{Tenant: lease.Tenant, User: lease.User, Agent: lease.Agent}
	r := &sleepRun{lease: lease}
	t := &turn{job: newJob(h, Invocation{Caller: caller, Timeout: DefaultTurnTimeout}, actSleep), name: actSleep, perform: r.update}
	t.inv.Key = lease.Key() // no answer is stored under this key
	t.session, t.label, t.info.Sleep, t.info.Tool = lease.Session, h.app.Sleep.Tool, true, h.app.Sleep.Tool
	r.turn = t
	var grants []declare.Grant
	for _, b := range h.Blocks().Declared() {
		grants = append(grants, declare.Grant{Store: b.Name, Verbs: []abi.Verb{abi.Read, abi.Write}})
	}
	r.authority = memory.Granted(grants)
	return r
}

// execute executes the run in a transaction.
func (r *sleepRun) execute(ctx context.Context) error {
	t := r.turn
	if !t.h.activeTurns.Enter() {
		return errHostClosed
	}
	defer t.h.activeTurns.Leave()
	done, err := r.transact(ctx)
	var fault *abi.Fault
	if err != nil {
		fault = t.fault(err)
	}
	result := runResult(t, t.info.ID, fault, effectsOr(done.Effects), false)
	result.Tool, result.Warnings = t.info.Tool, allWarnings(t, nil, result.Effects)
	if fault != nil {
		r.dropped = nil // nothing was stored, and the run is repeated later
	}
	for _, d := range r.dropped {
		t.h.log.Warn("a proposal of sleep-time memory was dropped", "run", t.info.ID, "app", t.h.app.ID, "tenant", r.lease.Tenant,
			"block", d.block, "scope", d.scope, "reason", d.reason)
	}
	return t.end(ctx, done.Recorded, result)
}

func (r *sleepRun) transact(ctx context.Context) (done memory.Done, err error) {
	t := r.turn
	if err := t.identify(ctx, actSleep, func() error { return nil }); err != nil {
		return done, err
	}
	ctx, cancel := t.bounded(ctx, t.timeLimit())
	defer cancel()
	tx := t.tx(memory.Authority{}, nil)
	tx.Key = ""
	return t.h.memory.Transact(ctx, tx, t.attempt)
}

// update executes one attempt of the run.
func (r *sleepRun) update(ctx context.Context, _ *turn, env *agentEnv) error {
	env.Hide(func(text string) string { return text })
	r.dropped = nil
	t, err := memory.OpenTranscript(ctx, env.view, r.lease.Session)
	if err != nil {
		return err
	}
	if !r.lease.Holds(t) {
		return r.giveBack(ctx, t)
	}
	request := sleep.Request{Dropped: t.State.Dropped, Transcript: make([]sleep.Message, len(t.State.Messages))}
	for i, m := range t.State.Messages {
		request.Transcript[i] = sleep.Message{Role: m.Role, Content: m.Content, Agent: m.Agent}
	}
	if request.Blocks, err = r.blocks(ctx, env.view); err != nil {
		return err
	}
	if err := r.propose(ctx, env, request); err != nil {
		return err
	}
	return t.Finish(ctx)
}

// giveBack schedules another run if the conversation has continued during the run. giveBack does
// nothing if another node has already processed the transcript, or has leased the run.
func (r *sleepRun) giveBack(ctx context.Context, t *memory.Transcript) error {
	if !t.State.Due.Equal(r.lease.At) || len(t.State.Messages) == 0 {
		return nil
	}
	return t.Move(ctx, t.State.SettlesAt(r.turn.h.app.Sleep.After))
}

// blocks returns the blocks of the caller and the contents of these blocks. The blocks are added to
// the read set of the transaction.
func (r *sleepRun) blocks(ctx context.Context, v *memory.View) ([]sleep.Block, error) {
	blocks := sleep.Blocks(r.turn.h.Blocks().Declared(), r.lease.Agent != "", r.turn.h.app.Sleep.UserCore)
	for i := range blocks {
		b := &blocks[i]
		options, err := json.Marshal(map[string]any{"agent": b.Scope == sleep.ScopeAgent})
		if err != nil {
			return nil, err
		}
		reply, err := v.CallWith(ctx, r.authority, abi.Call{Op: abi.GetBlock, Args: []json.RawMessage{quoted(b.Name), options}})
		if err != nil {
			return nil, err
		}
		var stored struct {
			Content string  `json:"content"`
			Updated *string `json:"updated_at"`
		}
		if err := json.Unmarshal(reply, &stored); err != nil { // null leaves stored empty
			return nil, err
		}
		b.Content, b.Updated = stored.Content, stored.Updated
	}
	return blocks, nil
}

// propose requests proposals and stores them. If a proposal cannot be stored, it is returned to the
// tool or the model once, with the reason. If the new version of the proposal cannot be stored
// either, the proposal is dropped.
func (r *sleepRun) propose(ctx context.Context, env *agentEnv, request sleep.Request) error {
	proposals, first, err := r.ask(ctx, env, request, nil)
	if err != nil {
		return err
	}
	if request.Rejected, err = r.store(ctx, env.view, request.Blocks, proposals); err != nil || len(request.Rejected) == 0 {
		return err
	}
	if proposals, _, err = r.ask(ctx, env, request, first); err != nil {
		return err
	}
	rejected, err := r.store(ctx, env.view, request.Blocks, proposals)
	last := &r.turn.last
	for _, p := range rejected {
		block, scope := p.Names(request.Blocks)
		r.dropped = append(r.dropped, droppedProposal{block, scope, p.Reason})
		last.warnings = append(last.warnings, fmt.Sprintf("a proposal for the block %s with the scope %s was dropped: %s", block, scope, p.Reason))
	}
	return err
}

// ask returns the proposals of the tool or the model. ask also returns the answer that contains
// them, as JSON.
func (r *sleepRun) ask(ctx context.Context, env *agentEnv, request sleep.Request, first json.RawMessage) ([]sleep.Proposal, json.RawMessage, error) {
	text, err := r.answerTo(ctx, env, request, first)
	if err != nil {
		return nil, nil, err
	}
	proposals, err := sleep.Decode(text)
	return proposals, text, err
}

func (r *sleepRun) answerTo(ctx context.Context, env *agentEnv, request sleep.Request, first json.RawMessage) (json.RawMessage, error) {
	if tool := r.turn.h.app.Sleep.Tool; tool != "" {
		input, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		return r.turn.callTool(ctx, env.view, r.lease.Agent, tool, input)
	}
	chat, err := sleep.Chat(request, first)
	if err != nil {
		return nil, err
	}
	answer, err := env.Chat(ctx, "", r.turn.h.app.Sleep.Model, chat)
	return answer.Object, err
}

// store stores proposals in blocks. store returns the proposals that cannot be stored.
func (r *sleepRun) store(ctx context.Context, v *memory.View, blocks []sleep.Block, proposals []sleep.Proposal) ([]sleep.Rejection, error) {
	var rejected []sleep.Rejection
	for i, p := range proposals {
		b, reason := p.Target(blocks)
		if i >= sleep.MaxProposals {
			return append(rejected, sleep.Rejection{Proposal: p, Reason: fmt.Sprintf("the answer has %d proposals; the limit is %d", len(proposals), sleep.MaxProposals)}), nil
		}
		if reason == "" && p.Content != b.Content {
			err := r.replace(ctx, v, b, p.Content)
			fault, ok := errors.AsType[*abi.Fault](err)
			if err != nil && (!ok || !sentBack(fault.Code)) {
				return nil, err
			}
			if err != nil {
				reason = fault.Message
			}
		}
		if reason != "" {
			rejected = append(rejected, sleep.Rejection{Proposal: p, Reason: reason})
		}
	}
	return rejected, nil
}

// sentBack reports whether a proposal is returned to the tool or the model if storing the proposal
// fails with the given code.
func sentBack(code abi.Code) bool {
	return code == abi.TooLarge || code == abi.InvalidArgument || code == abi.QuotaExceeded
}

// replace stores a new content of a block. The stored version must be the version on which the
// proposal is based.
func (r *sleepRun) replace(ctx context.Context, v *memory.View, b *sleep.Block, content string) error {
	options, err := json.Marshal(map[string]any{"agent": b.Scope == sleep.ScopeAgent, "expected_updated_at": b.Updated})
	if err != nil {
		return err
	}
	call := abi.Call{Op: abi.UpdateBlock, Args: []json.RawMessage{quoted(b.Name), quoted(content), options}}
	reply, err := v.CallWith(ctx, r.authority, call)
	if err != nil {
		return err
	}
	var stored struct {
		Updated *string `json:"updated_at"`
	}
	if err := json.Unmarshal(reply, &stored); err != nil {
		return err
	}
	b.Content, b.Updated = content, stored.Updated
	return nil
}
