package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/journal"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// Approvals is a handle for the effects of an app that wait for an approval. If a run reaches an
// effect that requires an approval, the run is paused, and its Result contains a token that
// identifies the request. If the Caller of a method has a user or a session, the method finds no
// requests of other users or sessions. If a Caller has a user or a session, it can decide a request
// only if the tool declares "by: user". If a Caller has no user, it can decide the requests of all
// users of its tenant, but not its own requests. If an Actor is an end user, it can decide its own
// request only if the tool declares "by: user". Approvals is safe for concurrent use.
type Approvals struct{ h *Host }

// Approvals returns a handle for the approvals of the app.
func (h *Host) Approvals() Approvals { return Approvals{h} }

// List returns pending requests, oldest first. The list begins after the request whose token is the
// argument "after". If the argument "all" is true, the list also includes requests that were
// decided recently. The second result is the argument "after" for the next page, or "" if there are
// no more pages. A page can be empty although another page follows.
func (a Approvals) List(ctx context.Context, c Caller, all bool, after string) ([]approval.Approval, string, error) {
	found, next, err := a.store().List(ctx, c.as(""), all, after)
	visible := []approval.Approval{}
	for _, request := range found {
		if sees(c, request) {
			visible = append(visible, request)
		}
	}
	return visible, next, err
}

// Get returns a request. If the Caller cannot see the request, the error is not_found.
func (a Approvals) Get(ctx context.Context, c Caller, token string) (approval.Approval, error) {
	request, err := a.store().Get(ctx, c.as(""), token)
	if err == nil && !sees(c, request) {
		err = approval.Unknown()
	}
	if err != nil {
		return approval.Approval{}, err
	}
	return request, nil
}

func (a Approvals) paused() memory.PausedRuns { return memory.NewPausedRuns(a.h.memory) }

func (a Approvals) store() *approval.Approvals { return a.paused().Requests() }

// sees reports whether a Caller can see a request.
func sees(c Caller, request approval.Approval) bool {
	return (c.User == "" || c.User == request.User) && (c.Session == "" || c.Session == request.Session)
}

// request returns a request that the Caller can decide, and the paused run of this request.
func (a Approvals) request(ctx context.Context, c Caller, token string) (request approval.Approval, p pausedRun, err error) {
	if request, err = a.Get(ctx, c, token); err != nil {
		return request, p, err
	}
	own := c.User != "" || c.ActorIsUser && c.Actor == request.User
	if own && !request.ByUser {
		return request, p, abi.Faultf(abi.AccessDenied, "the user of a run is not allowed to approve or deny the effects of this tool").
			WithHint("ask an approver, or declare `by: user` in the section `approval` of the tool")
	}
	if request.State != approval.Pending {
		return request, p, nil // the decision then fails with a fault that contains the state
	}
	content, err := a.store().Run(ctx, c.as(""), token)
	if err != nil {
		return request, p, err
	}
	if content == nil { // the user was erased, the session has ended, or the request was decided in the meantime
		return request, p, abi.Faultf(abi.Conflict, "the run no longer waits for this approval").
			WithHint("list the approvals that still wait for a decision")
	}
	if err := json.Unmarshal(content, &p); err != nil {
		a.h.log.Error("a paused run is damaged", "run", request.Run, "error", fmt.Errorf("%w: %w", storage.ErrCorrupt, err))
		return request, p, abi.Faultf(abi.Unavailable, "the paused run cannot be read")
	}
	return request, p, nil
}

// Approve approves an effect, and then executes the paused run again from its beginning. In this
// execution, the run receives the same answers to its external calls as before. If the run reaches
// the approved effect, the run continues. If the run reaches a different effect, it is paused under
// a new token. Approve returns the Result of the run, like Host.Run.
//
// An effect can be approved only once. If the run fails for a temporary reason, such as a timeout,
// the request becomes pending again. If the process ends during the run, the request becomes
// pending again after two minutes.
func (a Approvals) Approve(ctx context.Context, c Caller, token string) (*report.Result, error) {
	if a.h.closed.Load() {
		return nil, errHostClosed
	}
	_, p, err := a.request(ctx, c, token)
	if err != nil {
		return nil, err
	}
	claim, err := a.store().Approve(ctx, c.as(""), token, c.Actor)
	if err != nil {
		return nil, err
	}
	a.decided(ctx, c, p.Invocation.Caller, token, p.Invocation.Tool, actApprove, approval.Approved)
	r, err := resumed(a.h, p, &claim)
	if err != nil {
		return nil, errors.Join(err, a.paused().Release(context.WithoutCancel(ctx), p.Invocation.Caller.as(p.Run), claim, nil))
	}
	done, err := a.execute(ctx, c, r)
	if err == nil && done.Replayed != nil {
		err = abi.Faultf(abi.Conflict, "another run has used the idempotency key of the paused run; the paused run stored nothing")
		done.Replayed = nil
	}
	if err != nil {
		a.failed(ctx, r, p, err)
	}
	result := r.result(done, err)
	return result, r.end(ctx, done.Recorded, result)
}

// execute executes an approved run. During the execution, execute renews the lease of the run's
// Claim. If the Claim becomes invalid, execute stops the run.
func (a Approvals) execute(ctx context.Context, c Caller, r *run) (memory.Done, error) {
	ctx, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := a.store().Keep(ctx, c.as(""), *r.claim); err != nil {
			stop(err)
		}
	}()
	done, err := r.execute(ctx)
	stop(nil)
	<-ended
	return done, err
}

// resumed returns the run that was paused.
func resumed(h *Host, p pausedRun, claim *approval.Claim) (*run, error) {
	inv := p.Invocation.invocation()
	r := newRun(h, &inv)
	r.info.ID, r.claim, r.same = p.Run, claim, p.repeatable
	r.same.Approved = append(r.same.Approved, p.Next)
	if p.Journal == nil {
		return r, nil
	}
	var err error
	r.recorded, err = journal.Decode(p.Journal, runKey(&r.job), journal.Limits{})
	if err != nil {
		h.log.Error("the journal of a paused run is damaged", "run", p.Run, "error", err)
		return nil, abi.Faultf(abi.Unavailable, "the paused run cannot be read")
	}
	return r, nil
}

// cleanupTime is the time limit for the writes that follow the failure of an approved run. The host
// makes these writes even if the run's context has ended.
const cleanupTime = 10 * time.Second

// temporary contains fault codes. If an approved run fails with such a code, it can be executed
// again.
var temporary = []abi.Code{abi.Unavailable, abi.Cancelled, abi.Timeout, abi.Conflict, abi.QuotaExceeded, abi.Internal}

// failed handles the failure of an approved run. If the failure is temporary, the request becomes
// pending again. If the failure is not temporary, failed ends the request.
func (a Approvals) failed(ctx context.Context, r *run, p pausedRun, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	c := r.inv.Caller.as(r.info.ID)
	if slices.Contains(temporary, abi.FaultOf(r.fault(err)).Code) {
		err = a.paused().Release(ctx, c, *r.claim, withAnswers(ctx, r, p))
	} else {
		err = a.paused().End(ctx, c, r.claim.Token, approval.Ending{Claim: r.claim}, r.inv.Key, nil)
	}
	if err != nil && !errors.Is(err, abi.NotFound) && !errors.Is(err, abi.Conflict) { // the user was erased, or a second decision exists
		a.h.log.Error("cannot store the result of an approved run", "run", r.info.ID, "error", err)
	}
}

// withAnswers returns a paused run in its stored form. withAnswers adds the answers to the external
// calls of an execution that has failed. The next execution uses the stored answers, so it does not
// pay for the calls again. If there are no new answers, or if the answers cannot be stored, the
// result is nil.
func withAnswers(ctx context.Context, r *run, p pausedRun) []byte {
	if r.external == nil || r.external.attempt == nil || r.external.attempt.End(ctx) != nil {
		return nil
	}
	r.external.journal.Retry(temporary...)
	answers, err := r.external.journal.Encode()
	if err != nil || bytes.Equal(answers, p.Journal) { // the journal is full, or has no new answers
		return nil
	}
	p.Journal = answers
	text, err := json.Marshal(p)
	if err != nil || len(text) > storage.MaxContentBytes {
		return nil
	}
	return text
}

// maxReason is the maximum size, in bytes, of the reason for a decision.
const maxReason = 1000

// Deny denies an effect. If an effect is denied, its run ends with the fault access_denied and
// stores nothing. The fault contains the reason. Deny returns the Result of the run.
func (a Approvals) Deny(ctx context.Context, c Caller, token, reason string) (*report.Result, error) {
	if len(reason) > maxReason {
		return nil, abi.Faultf(abi.InvalidArgument, "the reason of the denial has %d bytes; the limit is %d", len(reason), maxReason)
	}
	request, p, err := a.request(ctx, c, token)
	if err != nil {
		return nil, err
	}
	result := deniedResult(request, reason)
	answer, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	owner := p.Invocation.Caller
	if owner.Tenant == "" {
		owner.Tenant = c.Tenant
	}
	end := approval.Ending{State: approval.Denied, By: c.Actor, Reason: reason}
	if err := a.paused().End(ctx, owner.as(p.Run), token, end, p.Invocation.Key, answer); err != nil {
		return nil, err
	}
	a.decided(ctx, c, owner, token, request.Tool, actDeny, approval.Denied)
	return result, nil
}

// deniedResult returns the Result of a run whose effect was denied.
func deniedResult(request approval.Approval, reason string) *report.Result {
	text := "the effect " + request.Effect.Describe(request.Binding.Step) + " was denied"
	if reason != "" {
		text += ": " + reason
	}
	return &report.Result{
		RunID: request.Run, Tool: request.Tool, Status: report.Failed, Output: json.RawMessage("null"),
		Logs: []abi.LogLine{}, Warnings: []string{}, Effects: noEffects(), Error: abi.Faultf(abi.AccessDenied, "%s", text),
	}
}

// decided records a decision in the ledger and calls the observers. The argument "owner" is the
// Caller of the paused run.
func (a Approvals) decided(ctx context.Context, c, owner Caller, token, tool, act string, state approval.State) {
	if id, err := a.h.newID(act); err == nil {
		owner.Actor = c.Actor
		e := a.h.ledger.act(owner, id, act, report.Effects{}, nil)
		e.Tool, e.Approval = tool, token
		a.h.ledger.add(owner.as(id).Tenant, e)
	}
	for _, o := range a.h.observers {
		o.ApprovalEnded(ctx, owner, state)
	}
}
