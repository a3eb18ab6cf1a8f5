package host

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// pauseError ends an attempt that has reached an effect that needs an approval. A pauseError is not
// a fault, so the guest cannot catch it.
type pauseError struct {
	binding approval.Binding
	effect  report.Effect
}

// Error implements error.
func (p *pauseError) Error() string { return "the run waits for an approval of " + p.effect.Operation }

// repeatable contains values that are the same in all executions of a run. Because of these values,
// each execution reaches the same effects. If the effects of a tool need no approval, the zero
// value is used.
type repeatable struct {
	// Now is the time that the guest's clock shows. Seed is the seed of the guest's random source.
	Now  time.Time `json:"now,omitzero"`
	Seed int64     `json:"seed,omitempty"`
	// ItemSeed is the seed of the ids of new entries. ItemSeed is separate from Seed, because the
	// guest can show its random numbers, and the ids must remain unpredictable.
	ItemSeed uint64 `json:"item_seed,omitempty"`
	// Approved contains the approved effects in the order in which the run reaches them.
	Approved []approval.Binding `json:"approved,omitempty"`
}

// start sets the clock and the seeds of a run that has not been executed before.
func (p *repeatable) start(h *Host) error {
	if p.Seed != 0 {
		return nil
	}
	var b [16]byte
	if _, err := io.ReadFull(h.rand, b[:]); err != nil {
		return fmt.Errorf("read the random source: %w", err)
	}
	p.Now, p.Seed = h.now(), int64(binary.LittleEndian.Uint64(b[:8])|1) // not 0
	p.ItemSeed = binary.LittleEndian.Uint64(b[8:]) | 1
	return nil
}

// pausedRun is the stored form of a run that waits for an approval.
type pausedRun struct {
	Run         string           `json:"run_id"`
	Invocation  pausedInvocation `json:"invocation"`
	Fingerprint string           `json:"fingerprint,omitempty"`
	repeatable
	// Next is the effect that waits for the approval.
	Next approval.Binding `json:"next"`
	// Journal contains the answers to the external calls of the run.
	Journal []byte `json:"journal,omitempty"`
}

// pausedInvocation contains those fields of an Invocation that are stored with a paused run.
type pausedInvocation struct {
	Tool             string             `json:"tool"`
	Caller           Caller             `json:"caller"`
	Code             *AdHocTool         `json:"code,omitempty"`
	Input            json.RawMessage    `json:"input,omitempty"`
	Context          json.RawMessage    `json:"context,omitempty"`
	Metadata         json.RawMessage    `json:"metadata,omitempty"`
	SessionReference string             `json:"session_reference,omitempty"`
	UserReference    string             `json:"user_reference,omitempty"`
	Key              string             `json:"key,omitempty"`
	Mocks            model.Mocks        `json:"mocks,omitempty"`
	Recalls          memory.RecallMocks `json:"recalls,omitempty"`
	Env              map[string]string  `json:"env,omitempty"`
	Timeout          time.Duration      `json:"timeout,omitempty"`
	Deadline         time.Duration      `json:"deadline,omitempty"`
}

// storedInvocation returns the stored form of an invocation. If the invocation has a session, the
// first execution has already stored the metadata and references with the session. If the
// invocation has a session, the stored form therefore omits the metadata and references.
func storedInvocation(inv Invocation) pausedInvocation {
	p := pausedInvocation{
		Tool: inv.Tool, Caller: inv.Caller, Code: inv.Code, Input: inv.Input, Context: inv.Context, Key: inv.Key, Mocks: inv.Mocks, Recalls: inv.Recalls,
		Env: inv.Env, Timeout: inv.Timeout, Deadline: inv.Deadline,
	}
	if inv.Caller.Session == "" {
		p.Metadata, p.SessionReference, p.UserReference = inv.Metadata, inv.SessionReference, inv.UserReference
	}
	return p
}

// invocation returns the invocation of a paused run.
func (p pausedInvocation) invocation() Invocation {
	return Invocation{
		Tool: p.Tool, Caller: p.Caller, Code: p.Code, Input: p.Input, Context: p.Context, Metadata: p.Metadata,
		SessionReference: p.SessionReference, UserReference: p.UserReference, Key: p.Key, Mocks: p.Mocks, Recalls: p.Recalls,
		Env: p.Env, Timeout: p.Timeout, Deadline: p.Deadline,
	}
}

// pause stores a run that waits for an approval. pause also sets the field "approval" of the run.
// If another run has used the idempotency key in the meantime, pause returns the Result of this
// other run.
func pause(ctx context.Context, r *run, p *pauseError) (memory.Done, error) {
	stored, err := encodeRun(ctx, r, p)
	if err != nil {
		return memory.Done{}, err
	}
	token, err := r.h.newID("approval")
	if err != nil {
		return memory.Done{}, err
	}
	c, at := r.inv.Caller.as(r.info.ID), r.h.now()
	request := approval.Approval{
		Token: token, Run: r.info.ID, Tool: r.inv.Tool, User: c.User, Session: c.Session, Workflow: c.Workflow,
		Binding: p.binding, Effect: p.effect, ByUser: r.tool.Approval.ByUser,
		Requested: at, Expires: at.Add(approval.Retention), State: approval.Pending,
	}
	r.approval = &report.PendingApproval{Token: token, Step: p.binding.Step, Effect: p.effect, ExpiresAt: request.Expires}
	answer, err := json.Marshal(r.result(memory.Done{}, nil))
	if err == nil {
		answer, err = memory.NewPausedRuns(r.h.memory).Add(ctx, memory.Pause{
			Caller: c, Request: request, Run: stored, Began: r.began, Key: r.inv.Key, Fingerprint: r.fingerprint, Answer: answer, Claim: r.claim,
		})
	}
	if err != nil || answer != nil {
		r.approval = nil
	}
	return memory.Done{Replayed: answer}, err
}

// encodeRun returns the stored form of a run.
func encodeRun(ctx context.Context, r *run, p *pauseError) ([]byte, error) {
	journal, err := r.external.encode(ctx)
	if err != nil {
		return nil, err
	}
	paused := pausedRun{
		Run: r.info.ID, Invocation: storedInvocation(r.inv), Fingerprint: r.fingerprint,
		repeatable: r.same, Next: p.binding, Journal: journal,
	}
	paused.Approved = slices.Clone(r.same.Approved[:r.last.passed])
	text, err := json.Marshal(paused)
	if err != nil {
		return nil, err
	}
	if len(text) > storage.MaxContentBytes {
		return nil, abi.Faultf(abi.TooLarge, "the run cannot wait for an approval: its input and the answers to its external calls have %d bytes; the limit is %d", len(text), storage.MaxContentBytes).
			WithHint("make fewer external calls before the call that requires the approval")
	}
	return text, nil
}

// encode ends the current attempt and waits for its calls in flight. encode returns the recorded
// answers, or nil if there are none.
func (x *externals) encode(ctx context.Context) ([]byte, error) {
	if x == nil {
		return nil, nil
	}
	if err := x.attempt.End(ctx); err != nil {
		return nil, err
	}
	if x.journal.Full() {
		return nil, abi.Faultf(abi.TooLarge, "the run cannot wait for an approval: the external calls of the run exceed the limits of the journal").
			WithHint("make fewer external calls before the call that requires the approval")
	}
	return x.journal.Encode()
}
