package approval

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// Add returns the writes that store a new request, together with its paused run. The request
// belongs to the caller. If the caller's session or workflow ends, the request is removed.
func (a *Approvals) Add(c partition.Caller, request Approval, run []byte) ([]storage.Write, error) {
	key, runKey := a.Key(c, request.Token), a.RunKey(c, request.Token)
	expires := request.Expires.Add(kept)
	writes, err := a.db.Write(nil, storage.Record{}, key, stored{Approval: request}, expires, c)
	if err != nil {
		return nil, err
	}
	at, ends := a.db.Now(), partition.Lifetime{Session: c.Session, Workflow: c.Workflow}
	writes[0].Record.Tags = partition.Tags(key, c, ends)
	return append(writes, storage.Write{Record: storage.Record{
		Key: runKey, Content: run, Revision: 1, Created: at, Updated: at, Expires: expires, Run: c.Run,
		Tags: partition.Tags(runKey, c, ends),
	}}), nil
}

// replaced returns a write that replaces the record of a request.
func (a *Approvals) replaced(writes []storage.Write, now storage.Record, s stored) ([]storage.Write, error) {
	writes, err := a.db.Write(writes, now, now.Key, s, now.Expires, partition.Caller{Run: now.Run})
	if err == nil {
		writes[len(writes)-1].Record.Tags = now.Tags
	}
	return writes, err
}

// Ending describes how a request ends.
type Ending struct {
	State State
	// By is the actor that decided the request. Reason is the reason for the decision. By and
	// Reason can be "".
	By, Reason string
	// Claim is the Claim under which the run was executed, or nil if the run was not executed. If
	// Claim is not nil, the decision of the request does not change.
	Claim *Claim
}

// End appends the writes that end a request. The writes remove the paused run and the arguments of
// the effect. The argument "now" is the current record of the request. If the Ending has no Claim,
// the request must still be pending. If the Ending has a Claim, this Claim must still be valid.
func (a *Approvals) End(writes []storage.Write, c partition.Caller, now storage.Record, e Ending) ([]storage.Write, error) {
	s, err := a.open(now)
	if err != nil {
		return nil, err
	}
	if e.Claim != nil {
		err = e.Claim.check(s)
	} else {
		s = s.at(a.db.Now())
		err = s.checkPending(e.State)
	}
	if err != nil {
		return nil, err
	}
	if e.Claim == nil {
		s.State, s.By, s.Reason, s.Decided = e.State, e.By, e.Reason, a.db.Now()
	}
	s.Leased, s.Effect.Arguments = time.Time{}, nil
	if writes, err = a.replaced(writes, now, s); err != nil {
		return nil, err
	}
	return append(writes, storage.Write{Record: storage.Record{Key: a.RunKey(c, s.Token)}, Delete: true}), nil
}

// open decodes the record of a request. The state of the result is the state that was stored last.
// If the request does not exist, the error is not_found.
func (a *Approvals) open(r storage.Record) (stored, error) {
	if !r.Exists() || r.Expired(a.db.Now()) {
		return stored{}, Unknown()
	}
	return parse(r)
}

// checkPending returns a fault if a request is not pending. A request that has been decided or has
// expired is not pending. If the argument "next" is Expired, checkPending also accepts an expired
// request.
func (s stored) checkPending(next State) error {
	switch {
	case s.State == Pending || s.State == Expired && next == Expired:
		return nil
	case s.State == Expired:
		return abi.Faultf(abi.Conflict, "the approval expired at %s", s.Expires.UTC().Format(time.RFC3339)).
			WithHint("run the tool again to request a new approval")
	}
	return abi.Faultf(abi.Conflict, "the approval was already %s", s.State).WithHint("a token can be used only once")
}

// Approve approves a pending request. The decision is made by the given actor. The returned Claim
// is needed to execute the run of the request. If several approvers decide a request at the same
// time, only one of them succeeds.
func (a *Approvals) Approve(ctx context.Context, c partition.Caller, token, by string) (claim Claim, err error) {
	err = a.swap(ctx, c, token, func(s stored) (stored, error) {
		s = s.at(a.db.Now())
		if err := s.checkPending(Approved); err != nil {
			return s, err
		}
		s.State, s.By, s.Decided = Approved, by, a.db.Now()
		s.Leased = s.Decided.Add(lease)
		s.Execution++
		claim = Claim{Token: token, execution: s.Execution}
		return s, nil
	})
	return claim, err
}

// Release returns the writes that make a request pending again. Release is used if the approved run
// has failed for a temporary reason. The argument "request" is the current record of the request.
// The argument "paused" is the current record of its run. If the argument "run" is not nil, Release
// replaces the content of the paused run.
func (a *Approvals) Release(request, paused storage.Record, claim Claim, run []byte) ([]storage.Write, error) {
	s, err := a.open(request)
	if err == nil {
		err = claim.check(s)
	}
	if err != nil {
		return nil, err
	}
	s.State, s.By, s.Decided, s.Leased = Pending, "", time.Time{}, time.Time{}
	writes, err := a.replaced(nil, request, s)
	if err != nil || run == nil || !paused.Exists() {
		return writes, err
	}
	paused.Content, paused.Updated = run, a.db.Now()
	paused.Revision++
	return append(writes, storage.Write{Record: paused}), nil
}

// swap replaces the record of a request by compare-and-set.
func (a *Approvals) swap(ctx context.Context, c partition.Caller, token string, change func(stored) (stored, error)) error {
	err := records.Swap(ctx, a.db.Backend, a.Key(c, token), func(now storage.Record) ([]storage.Write, error) {
		s, err := a.open(now)
		if err != nil {
			return nil, err
		}
		if s, err = change(s); err != nil {
			return nil, err
		}
		return a.replaced(nil, now, s)
	})
	return a.db.Fault("decide an approval", err)
}

// EachExpired calls the function "visit" for requests of the caller's tenant. Only requests that
// have expired without a decision are visited. EachExpired examines at most one chunk of paused
// runs. EachExpired reads only the keys of these paused runs.
func (a *Approvals) EachExpired(ctx context.Context, c partition.Caller, visit func(Approval) error) error {
	heads, err := a.db.Backend.Heads(ctx, a.db.App.System(partition.PausedRun, c), "", records.Chunk)
	if err != nil {
		return a.db.Fault("list paused runs", err)
	}
	for _, h := range heads {
		if a.waits(h) {
			continue
		}
		found, err := a.Get(ctx, c, h.Key.Part(storage.Item))
		if err != nil {
			continue // its user was erased
		}
		if found.State == Expired {
			if err := visit(found); err != nil {
				return err
			}
		}
	}
	return nil
}
