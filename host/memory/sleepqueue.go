package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// SleepQueue is the queue of the runs that process transcripts. For each transcript with messages,
// the queue has one record. The key of the record contains the time at which the run is due.
// SleepQueue is safe for concurrent use.
type SleepQueue struct{ s *Service }

// NewSleepQueue returns the queue of an app.
func NewSleepQueue(s *Service) SleepQueue { return SleepQueue{s} }

// Due contains a record of the queue.
type Due struct {
	Tenant, User, Session string
	// At is the time at which the run is due. If the run is leased, At is the end of the lease.
	At time.Time
	// Tries is the number of times that the run has begun.
	Tries int
	// Leased is true while a run is in progress.
	Leased bool
	// Code is the fault code of the last run. If no run has failed, Code is "".
	Code abi.Code
}

// dueState is the stored form of a Due.
type dueState struct {
	Tries  int      `json:"tries,omitempty"`
	Leased bool     `json:"leased,omitempty"`
	Code   abi.Code `json:"code,omitempty"`
}

// caller returns the caller of the host's transactions for a transcript.
func (d Due) caller() partition.Caller { return partition.Caller{Tenant: d.Tenant, User: d.User} }

// transact executes the function "body" in a transaction to which no quota applies. If a quota
// applied, a user with an exhausted quota would block the queue, because the record of this user
// would remain at the head.
func (q SleepQueue) transact(ctx context.Context, c partition.Caller, body func(context.Context, *View) error) error {
	_, err := q.s.Transact(ctx, &Tx{Caller: c, Unlimited: true}, body)
	return err
}

// List returns the first records of a tenant, sorted by their times. The argument "limit" is the
// maximum number of records. If the argument "until" is not zero, List omits records that are due
// after the time "until". If a record is damaged, List logs and omits it.
func (q SleepQueue) List(ctx context.Context, tenant string, until time.Time, limit int) ([]Due, error) {
	var found []Due
	prefix := q.s.app.System(partition.SleepDue, partition.Caller{Tenant: tenant})
	for after := storage.Key(""); ; {
		heads, err := q.s.backend.Heads(ctx, prefix, after, records.Chunk)
		if err != nil {
			return nil, q.s.records.Fault(listing, err)
		}
		part, ended := q.dueIn(heads, tenant, until)
		part, err = q.withStates(ctx, part[:min(len(part), limit-len(found))])
		if err != nil {
			return nil, q.s.records.Fault(listing, err)
		}
		if found = append(found, part...); ended || len(heads) < records.Chunk || len(found) >= limit {
			return found, nil
		}
		after = heads[len(heads)-1].Key
	}
}

// dueIn examines heads of records. dueIn returns the records that are due at the time "until". The
// second result is true if a record that is not yet due follows. dueIn omits expired records. After
// a long pause, many expired records can exist until a sweep removes them.
func (q SleepQueue) dueIn(heads []storage.Head, tenant string, until time.Time) (due []Due, ended bool) {
	for _, h := range heads {
		d, ok := dueOf(h, tenant)
		if !ok || !until.IsZero() && d.At.After(until) {
			return due, true
		}
		if !h.Expired(q.s.now()) {
			due = append(due, d)
		}
	}
	return due, false
}

// withStates reads the contents of records in one read and adds them to the records. withStates
// omits records that have been removed.
func (q SleepQueue) withStates(ctx context.Context, due []Due) ([]Due, error) {
	if len(due) == 0 {
		return nil, nil
	}
	keys := make([]storage.Key, len(due))
	for i, d := range due {
		keys[i] = q.s.app.Due(d.caller(), d.At, d.Session)
	}
	stored, err := q.s.backend.Get(ctx, keys...)
	if errors.Is(err, storage.ErrCorrupt) && len(due) > 1 {
		return q.eachWithState(ctx, due)
	}
	if err != nil {
		return nil, err
	}
	found := due[:0]
	for i, r := range stored {
		if r.Exists() {
			state := decodeDue(q.s.log, r)
			due[i].Tries, due[i].Leased, due[i].Code = state.Tries, state.Leased, state.Code
			found = append(found, due[i])
		}
	}
	return found, nil
}

// eachWithState is like withStates, but uses a separate read for each record. If a record is
// damaged, eachWithState logs and omits it.
func (q SleepQueue) eachWithState(ctx context.Context, due []Due) (found []Due, err error) {
	for i := range due {
		one, err := q.withStates(ctx, due[i:i+1])
		if err != nil && !errors.Is(err, storage.ErrCorrupt) {
			return nil, err
		}
		if err != nil {
			q.s.log.Error("a record of the queue is damaged", "session", due[i].Session, "error", err)
		}
		found = append(found, one...)
	}
	return found, nil
}

// decodeDue decodes the content of a record of the queue. If the content is invalid, decodeDue logs
// the content and returns the zero state. The next lease then replaces the content.
func decodeDue(log *slog.Logger, r storage.Record) (state dueState) {
	if err := json.Unmarshal(r.Content, &state); err != nil {
		log.Error("the content of a record of the queue is invalid", "error", err)
		return dueState{}
	}
	return state
}

const listing = "list the queue"

// Lease leases a run for a limited time. While a run is leased, no other node begins the run. The
// argument "after" is the time that must pass before a session counts as settled. The result is nil
// if the run must not start now. The reason can be that another node has leased the run, that the
// session has not settled, or that the transcript has no messages. Lease uses the clock of the
// transaction. Lease does not use the clock of the caller.
func (q SleepQueue) Lease(ctx context.Context, d Due, after, length time.Duration) (lease *Lease, err error) {
	err = q.transact(ctx, d.caller(), func(ctx context.Context, v *View) error {
		lease = nil
		if d.At.After(v.Now()) {
			return nil
		}
		t, err := OpenTranscript(ctx, v, d.Session)
		if err != nil {
			return err
		}
		if !t.State.Due.Equal(d.At) {
			return t.forget(ctx, d)
		}
		if len(t.State.Messages) == 0 {
			return t.Finish(ctx)
		}
		if settles := t.State.SettlesAt(after); settles.After(v.Now()) {
			return t.Move(ctx, settles)
		}
		state, err := t.scheduled(ctx)
		if err != nil {
			return err
		}
		state.Leased, state.Tries = true, state.Tries+1
		if err := t.schedule(ctx, v.Now().Add(length), state); err != nil {
			return err
		}
		lease = &Lease{Due: d, Agent: t.State.Agent, Last: t.State.Last, Began: t.State.Began}
		lease.At, lease.Tries, lease.Leased, lease.Code = t.State.Due, state.Tries, true, state.Code
		return nil
	})
	if err != nil {
		return nil, err
	}
	return lease, nil
}

// forget removes a record of the queue if the transcript does not refer to the record.
func (t *Transcript) forget(ctx context.Context, d Due) error {
	key := t.view.s.app.Due(t.view.caller, d.At, d.Session)
	return t.classified(ctx, t.view.tx.Apply(ctx, key, func(*storage.Record, bool) (txn.State, any, error) {
		return txn.State{}, nil, nil
	}))
}

// A Lease represents a leased run of the queue.
type Lease struct {
	Due
	// Agent is the last active agent of the session. If no agent was active, Agent is "".
	Agent string
	// Last is the number of the last message that the run processes.
	Last int64
	// Began is the time of the first message of the transcript.
	Began time.Time
}

// Key returns the idempotency key of the run. Two runs that process different messages have
// different keys. The key is unique even if an earlier transcript of the session has expired.
func (l *Lease) Key() string {
	return fmt.Sprintf("sleep/%s/%d/%d", l.Session, l.Began.UnixMicro(), l.Last)
}

// Holds reports whether the lease is still valid. Holds also requires that no message was added to
// the transcript.
func (l *Lease) Holds(t *Transcript) bool {
	return t.State.Due.Equal(l.At) && t.State.Last == l.Last && len(t.State.Messages) > 0
}

// Release ends a lease after its run has failed. The argument "code" is the code of the fault. The
// next run is due after a delay. If another node has leased the run in the meantime, Release
// changes nothing.
func (q SleepQueue) Release(ctx context.Context, l *Lease, delay time.Duration, code abi.Code) error {
	err := q.transact(ctx, l.caller(), func(ctx context.Context, v *View) error {
		t, err := OpenTranscript(ctx, v, l.Session)
		if err != nil || !t.State.Due.Equal(l.At) {
			return err
		}
		state, err := t.scheduled(ctx)
		if err != nil {
			return err
		}
		state.Leased, state.Code = false, code
		return t.schedule(ctx, v.Now().Add(delay), state)
	})
	return err
}

// Discard ends a lease. The run of the lease is not repeated. The same commit removes the messages
// of the transcript and stores the ledger entry. The result reports whether the messages were
// removed. Discard changes nothing if the session has continued, or if another node has leased the
// run in the meantime.
func (q SleepQueue) Discard(ctx context.Context, l *Lease, entry *ledger.Entry) (discarded bool, err error) {
	_, err = q.s.Transact(ctx, &Tx{Caller: l.caller(), Unlimited: true, LedgerEntry: entry}, func(ctx context.Context, v *View) error {
		t, err := OpenTranscript(ctx, v, l.Session)
		if err != nil {
			return err
		}
		if discarded = l.Holds(t); !discarded {
			return nil
		}
		return t.Finish(ctx)
	})
	return discarded && err == nil, err
}

// End is called for an ended session. End makes the run of the session due now. If the run is in
// progress, End does not stop it.
func (q SleepQueue) End(ctx context.Context, tenant, user, session string) error {
	err := q.transact(ctx, partition.Caller{Tenant: tenant, User: user}, func(ctx context.Context, v *View) error {
		t, err := OpenTranscript(ctx, v, session)
		if err != nil || t.State.Last == 0 {
			return err
		}
		t.State.Ended = true
		t.expires = v.Now().Add(declare.TranscriptRetention)
		state, err := t.scheduled(ctx)
		switch {
		case err != nil:
			return err
		case len(t.State.Messages) == 0:
			return t.Finish(ctx)
		case state.Leased:
			return t.save(ctx)
		}
		return t.schedule(ctx, v.Now(), state)
	})
	return err
}
