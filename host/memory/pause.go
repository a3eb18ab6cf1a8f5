package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// PausedRuns are the runs of an app that wait for an approval. PausedRuns is safe for concurrent
// use.
type PausedRuns struct{ s *Service }

// NewPausedRuns returns the PausedRuns of an app.
func NewPausedRuns(s *Service) PausedRuns { return PausedRuns{s} }

// Requests returns the approval requests of the paused runs.
func (p PausedRuns) Requests() *approval.Approvals { return p.s.approvals }

// Pause is a run that waits for an approval.
type Pause struct {
	Caller  partition.Caller
	Request approval.Approval
	// Run contains what the host needs to execute the run again.
	Run []byte
	// Began is the time at which the run began. Add stores nothing if the user was erased after
	// this time.
	Began time.Time
	// Key is the idempotency key of the run's Tx, and Fingerprint is the fingerprint of the run's
	// Tx. If Key is not "", Answer is stored under the key. The Answer remains under the key until
	// the run has ended.
	Key, Fingerprint string
	Answer           []byte
	// Claim is the Claim under which the run was executed, if an earlier approval request of the
	// run was approved. Otherwise, Claim is nil.
	Claim *approval.Claim
}

// Add stores a run that waits for an approval. If another run has used the same idempotency key,
// Add stores nothing and returns the answer of the other run. The run counts toward the quota of
// its user.
func (r PausedRuns) Add(ctx context.Context, p Pause) (earlier []byte, err error) {
	s, c := r.s, p.Caller
	unlock, err := s.db.Lock(ctx, s.approvals.RunKey(c, ""))
	if err != nil {
		return nil, abi.Faultf(abi.Unavailable, "too many runs pause at the same time").WithHint("retry later")
	}
	defer unlock()
	if p.Claim == nil {
		if err := s.approvals.CheckRoom(ctx, c); err != nil {
			return nil, err
		}
	}
	keys := pauseKeys(s, p)
	err = s.records.Update(ctx, c, keys, func(now []storage.Record) ([]storage.Write, error) {
		records := map[storage.Key]storage.Record{}
		for i, key := range keys {
			records[key] = now[i]
		}
		var writes []storage.Write
		var err error
		writes, earlier, err = pauseWrites(s, p, records)
		return writes, err
	})
	return earlier, s.records.Fault("pause a run", s.records.SpaceFault(err))
}

// pauseKeys returns the keys of the records that are checked when a pause is stored.
func pauseKeys(s *Service, p Pause) []storage.Key {
	c := p.Caller
	keys := []storage.Key{s.approvals.Key(c, p.Request.Token), s.approvals.RunKey(c, p.Request.Token)}
	if p.Claim != nil {
		keys = append(keys, s.approvals.Key(c, p.Claim.Token))
	}
	if p.Key != "" {
		keys = append(keys, s.app.Finished(c, p.Key))
	}
	if c.User != "" {
		keys = append(keys, s.app.Erased(c))
	}
	return keys
}

// pauseWrites returns the writes that store a pause. If an earlier run has used the idempotency
// key, pauseWrites instead returns the answer of this run.
func pauseWrites(s *Service, p Pause, now map[storage.Key]storage.Record) (writes []storage.Write, earlier []byte, err error) {
	c := p.Caller
	if mark := now[s.app.Erased(c)]; c.User != "" && mark.Exists() && !mark.Updated.Before(p.Began) {
		return nil, nil, abi.Faultf(abi.Cancelled, "the user was erased during the run; nothing was stored")
	}
	if writes, err = s.approvals.Add(c, p.Request, p.Run); err != nil {
		return nil, nil, err
	}
	if p.Claim != nil {
		if writes, err = s.approvals.End(writes, c, now[s.approvals.Key(c, p.Claim.Token)], approval.Ending{Claim: p.Claim}); err != nil {
			return nil, nil, err
		}
	}
	if p.Key == "" {
		return writes, nil, nil
	}
	t := &transaction{s: s, tx: &Tx{Caller: c, Key: p.Key, Fingerprint: p.Fingerprint, Claim: p.Claim}}
	finished := now[s.app.Finished(c, p.Key)]
	if earlier, err = t.finished(finished); err != nil || earlier != nil {
		return nil, earlier, err
	}
	kept, err := finishedRecord(s, finished, c, p.Key, finishedState{Fingerprint: p.Fingerprint, Answer: p.Answer, Paused: p.Request.Token}, p.Request.Expires)
	return append(writes, kept), nil, err
}

// finishedRecord returns a write that stores an answer under an idempotency key. The write replaces
// an existing record.
func finishedRecord(s *Service, now storage.Record, c partition.Caller, key string, state finishedState, expires time.Time) (storage.Write, error) {
	content, err := json.Marshal(state)
	if err != nil {
		return storage.Write{}, err
	}
	if len(content) > storage.MaxContentBytes {
		return storage.Write{}, abi.Faultf(abi.TooLarge, "the Result has %d bytes; with an idempotency key, the limit is %d", len(state.Answer), storage.MaxContentBytes-(len(content)-len(state.Answer))).
			WithHint("reduce the tool's log, or run the tool without an idempotency key")
	}
	k, at := s.app.Finished(c, key), s.now()
	r := storage.Record{
		Key: k, Content: content, Revision: now.Revision + 1, Generation: now.Generation, Created: at, Updated: at, Expires: expires, Run: c.Run,
		Tags: partition.Tags(k, c, partition.Lifetime{Session: c.Session, Workflow: c.Workflow}),
	}
	return storage.Write{Record: r}, nil
}

// Release makes the approval request of a Claim pending again. The host calls Release if the run
// has failed for a temporary reason. If the argument "run" is not nil, it replaces the content of
// the paused run, unless the new content exceeds the quota of the run's user.
func (r PausedRuns) Release(ctx context.Context, c partition.Caller, claim approval.Claim, run []byte) error {
	s := r.s
	keys := []storage.Key{s.approvals.Key(c, claim.Token), s.approvals.RunKey(c, claim.Token)}
	err := s.records.SpaceFault(s.records.Update(ctx, c, keys, func(now []storage.Record) ([]storage.Write, error) {
		return s.approvals.Release(now[0], now[1], claim, run)
	}))
	if run != nil && errors.Is(err, abi.QuotaExceeded) {
		return r.Release(ctx, c, claim, nil)
	}
	return s.records.Fault("release a paused run", err)
}

// End ends an approval request whose run does not commit. Possible reasons are a denied request, an
// expired request, and a failed execution. End removes the paused run. If the run has an
// idempotency key, End stores the argument "answer" under the key. If answer is nil, the key can be
// used again.
func (r PausedRuns) End(ctx context.Context, c partition.Caller, token string, end approval.Ending, key string, answer []byte) error {
	s := r.s
	keys := []storage.Key{s.approvals.Key(c, token)}
	if key != "" {
		keys = append(keys, s.app.Finished(c, key))
	}
	err := s.backend.Update(ctx, storage.Keys(append(keys, s.approvals.RunKey(c, token))...), func(now []storage.Record) ([]storage.Write, error) {
		writes, err := s.approvals.End(nil, c, now[0], end)
		if err != nil || key == "" {
			return writes, err
		}
		return endFinished(s, writes, now[1], c, token, key, answer)
	})
	return s.records.Fault("end a paused run", err)
}

// ActExpire is the act in a ledger entry about an expired approval request.
const ActExpire = "expire_approval"

// expireApprovals ends the expired approval requests of a tenant and adds ledger entries for them.
func expireApprovals(ctx context.Context, s *Service, tenant string) error {
	return s.approvals.EachExpired(ctx, partition.Caller{Tenant: tenant}, func(request approval.Approval) error {
		owner := partition.Caller{Tenant: tenant, User: request.User, Session: request.Session, Workflow: request.Workflow, Run: request.Run}
		err := NewPausedRuns(s).End(ctx, owner, request.Token, approval.Ending{State: approval.Expired}, "", nil)
		if errors.Is(err, abi.Conflict) || errors.Is(err, abi.NotFound) {
			return nil // the request was decided or erased after the scan read the request
		}
		if err != nil {
			return err
		}
		if s.onExpired != nil {
			s.onExpired(ctx, owner, request)
		}
		id, err := ulid.New(ulid.Timestamp(s.clock()), s.rand)
		if err != nil {
			return err
		}
		return s.ledger.Add(ctx, tenant, []ledger.Entry{{
			Run: "expire_" + id.String(), Act: ActExpire, Tool: request.Tool, Approval: request.Token, User: request.User, Session: request.Session,
			Workflow: request.Workflow, At: s.now(), Reads: []report.ReadEffect{}, Writes: []report.WriteEffect{},
		}})
	})
}

// endFinished appends a write that replaces the stored answer of a paused run with the argument
// "answer". If this argument is nil, the write removes the stored answer. If no answer of the
// paused run is stored, endFinished returns the writes unchanged.
func endFinished(s *Service, writes []storage.Write, now storage.Record, c partition.Caller, token, key string, answer []byte) ([]storage.Write, error) {
	if !now.Exists() || now.Expired(s.now()) {
		return writes, nil
	}
	var state finishedState
	if err := json.Unmarshal(now.Content, &state); err != nil {
		return nil, fmt.Errorf("finished run: %w: %w", storage.ErrCorrupt, err)
	}
	if state.Paused != token {
		return writes, nil
	}
	if answer == nil {
		return append(writes, storage.Write{Record: storage.Record{Key: now.Key}, Delete: true}), nil
	}
	state.Paused, state.Answer = "", answer
	kept, err := finishedRecord(s, now, c, key, state, s.now().Add(s.keyRetention))
	return append(writes, kept), err
}
