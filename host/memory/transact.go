package memory

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// Tx configures a transaction.
type Tx struct {
	Caller partition.Caller
	// Authority contains the rights of the function "body". Default: none.
	Authority Authority
	// Session contains data for the session of the caller. The session receives the data before the
	// first attempt. If the caller has no session, sessionMeta contains these data, but only during
	// the transaction.
	Session session.Start
	// If ReadOnly is set, the transaction does not start a session or a workflow. ReadOnly also
	// prevents the transaction from recording the use of a session or a workflow.
	ReadOnly bool
	// If Unlimited is set, no quota applies to the transaction. The writes of the transaction still
	// count toward the usage. Use Unlimited only for host records that cannot wait until a user
	// frees space.
	Unlimited bool
	// If EndIdle is set, the commit of the transaction ends the session of the caller. The session
	// must be idle. The transaction can read and write the records of the session. The records of
	// the session are invisible to all other transactions.
	EndIdle bool
	// If DryRun is set, the transaction ignores Key and stores nothing, and Done.Changes lists the
	// changes.
	DryRun bool
	// LedgerEntry is the ledger entry of the transaction, or nil. The transaction adds its reads
	// and writes to the ledger entry.
	LedgerEntry *ledger.Entry
	// Key is the idempotency key of the transaction, or "". The commit stores the answer under the
	// idempotency key. A later transaction with the same Key and the same Fingerprint returns the
	// stored answer.
	//
	// If a later transaction has the same Key but a different Fingerprint, it fails with the fault
	// conflict. If the Fingerprint has the form "input=x context=y", the message of this fault
	// lists the different parts.
	Key         string
	Fingerprint string
	// Claim is the Claim under which the transaction executes an approved run again, or nil. If
	// Claim is set, the commit ends the approval request. If the Claim has become invalid, nothing
	// is stored.
	Claim *approval.Claim
	// Seed is the seed of the transaction. Transactions with the same Seed and the same run create
	// entries with the same ids. Default: a random seed.
	Seed uint64
	// Answer returns the answer to store under Key, based on the effects of the transaction. Answer
	// is called inside the commit, possibly several times, and must be pure.
	Answer func(report.Effects) ([]byte, error)
}

// Done is the result of a transaction of a Service.
type Done struct {
	// Effects contains the reads and writes of the last attempt.
	Effects  report.Effects
	Attempts int
	// Changes contains the changes that a dry run did not store.
	Changes []report.Change
	// Remembered contains the entries that the dry run would have added to collections.
	Remembered []report.Remembered
	// Recorded is true if the ledger contains an entry of the transaction.
	Recorded bool
	// Replayed is the answer of an earlier transaction with the same idempotency key. Without such
	// an answer, Replayed is nil. If Replayed is not nil, the body was not executed or its writes
	// were discarded.
	Replayed []byte
}

// transaction is the state of one call of Transact. All attempts of the call share the transaction.
type transaction struct {
	s  *Service
	tx *Tx
	anchors
	// view is the View of the current attempt.
	view *View
	// reclaimed is true if a call of the guest has already removed expired records.
	reclaimed bool
	// limits is the budget of the caller. The method "budget" sets this field at its first call.
	limits storage.Budget
}

// Transact executes the function "body" in attempts. Transact returns when an attempt commits or
// fails. If the function "body" fails, nothing is stored, and Transact returns the error of the
// function. Every other error of Transact is an *abi.Fault or the error of the context. Transact
// does not modify tx. The caller must not modify tx until Transact returns.
//
// The function "body" receives a View. The View becomes invalid when the function returns. The
// function "body" must return soon after ctx ends. If a method of the View returns an error that is
// not an *abi.Fault, the function "body" must return this error. The function "body" must have no
// effects except through the View.
func (s *Service) Transact(ctx context.Context, tx *Tx, body func(ctx context.Context, v *View) error) (Done, error) {
	if err := tx.Caller.Check(); err != nil {
		return Done{}, err
	}
	if err := partition.CheckID("idempotent run", tx.Key); err != nil {
		return Done{}, err
	}
	t := &transaction{s: s, tx: tx}
	if tx.DryRun {
		dry := *tx
		dry.Key, dry.LedgerEntry, dry.ReadOnly = "", nil, true
		t.tx = &dry
	}
	unlock, err := t.lockKey(ctx)
	if err != nil {
		return Done{}, err
	}
	defer unlock()
	// Transact checks the idempotency key before it uses the session, because a replayed run must
	// not change its session.
	if earlier, err := t.earlier(ctx); err != nil || earlier != nil {
		return Done{Replayed: earlier}, causeOf(ctx, err)
	}
	if err := t.begin(ctx); err != nil {
		return Done{Attempts: 1}, causeOf(ctx, s.records.Fault("begin a run", err))
	}
	out, err := s.db.Run(ctx, t.options(), func(ctx context.Context, kernel *txn.Tx) error {
		t.view = &View{s: s, caller: t.tx.Caller, authority: t.tx.Authority, run: t, tx: kernel}
		err := body(ctx, t.view)
		if err == nil && t.view.closed == nil {
			err = Complete(ctx, t.view)
		}
		t.view.closed = errClosed
		if err != nil {
			return &bodyError{err}
		}
		return nil
	})
	return t.done(ctx, out, err)
}

// errClosed is the error of every call of a View after the body has returned.
var errClosed = errors.New("the attempt has ended")

// bodyError contains an error that a body returned.
type bodyError struct{ error }

// done converts the outcome of the txn transaction into the result of Transact.
func (t *transaction) done(ctx context.Context, out txn.Outcome, err error) (Done, error) {
	done := Done{Attempts: out.Attempts, Effects: t.effects(out.Effects)}
	if out.Committed || errors.Is(err, storage.ErrUnknownOutcome) {
		t.refresh(out.Effects)
	}
	earlier, replayed := errors.AsType[earlierAnswer](err)
	switch {
	case replayed:
		done.Replayed = earlier.answer
		return done, nil
	case err == nil && t.tx.DryRun:
		done.Changes, done.Remembered = t.changes(out.Effects), t.remembered(out.Effects)
	case err == nil:
		done.Recorded = out.Committed && t.tx.LedgerEntry != nil && t.s.ledger.Enabled()
	}
	return done, t.fault(ctx, err)
}

// refresh makes the writes of a commit visible to later searches in this process. refresh is
// necessary because PostgreSQL can report a commit late.
func (t *transaction) refresh(e txn.Effects) {
	keys := make([]storage.Key, len(e.Writes))
	for i, c := range e.Writes {
		keys[i] = c.Key
	}
	t.s.index.Refresh(keys...)
}

// fault converts an error of package txn into the error for callers. fault returns an error of the
// body unchanged, unless it is the error of ctx.
func (t *transaction) fault(ctx context.Context, err error) error {
	if own, ok := errors.AsType[*bodyError](err); ok {
		return causeOf(ctx, own.error)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, txn.ErrConflict):
		return conflictUntilDeadline(ctx)
	case errors.Is(err, storage.ErrUnknownOutcome):
		return t.unknownOutcome(err)
	}
	return causeOf(ctx, t.s.records.Fault("commit", t.s.records.SpaceFault(err)))
}

// contextFault returns the cause of the end of ctx if this cause is a fault. If the cause is not a
// fault, contextFault returns the error of ctx.
func contextFault(ctx context.Context) error {
	if f, ok := errors.AsType[*abi.Fault](context.Cause(ctx)); ok {
		return f
	}
	return ctx.Err()
}

// causeOf returns the cause of the end of ctx if err is the error of ctx and the cause is a fault.
// Otherwise, causeOf returns err unchanged.
func causeOf(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*abi.Fault](err); err == nil || ok || ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	return contextFault(ctx)
}

// conflictUntilDeadline returns the fault of a run whose attempts conflicted until the deadline of
// the run. If the run was canceled, conflictUntilDeadline returns the error of the context.
func conflictUntilDeadline(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return abi.Faultf(abi.Conflict, "the run reached its time limit because other runs kept changing the same records").
		WithHint("retry, or reduce the number of concurrent runs that write the same record")
}

// unknownOutcome returns the fault of a run if the host does not know whether the run was
// committed. unknownOutcome also logs the error.
func (t *transaction) unknownOutcome(err error) error {
	t.s.log.Error("the outcome of a commit is unknown", "run", t.tx.Caller.Run, "error", err)
	f := abi.Faultf(abi.Unavailable, "the storage backend did not report whether it stored the run's writes").
		WithHint("check the stored records before a retry, or use an idempotency key")
	f.Outcome = "unknown"
	return f
}

// lockKey acquires a lock. The lock serializes the transactions with the same idempotency key. A
// transaction holds the lock until the transaction ends. A transaction holds the lock even while it
// waits for an external call. Without the lock, a concurrent retry would repeat the external call.
func (t *transaction) lockKey(ctx context.Context) (unlock func(), err error) {
	if t.tx.Key == "" {
		return func() {}, nil
	}
	if unlock, err = t.s.db.Lock(ctx, t.s.app.Finished(t.tx.Caller, t.tx.Key)); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		return nil, abi.Faultf(abi.Conflict, "an earlier run with the same idempotency key has not ended").
			WithHint("retry later with the same key to get its Result")
	}
	return unlock, nil
}

// earlier returns the stored answer of an earlier transaction with the same idempotency key. If no
// answer is stored, the result is nil.
func (t *transaction) earlier(ctx context.Context) ([]byte, error) {
	if t.tx.Key == "" {
		return nil, nil
	}
	records, err := t.s.backend.Get(ctx, t.s.app.Finished(t.tx.Caller, t.tx.Key))
	if err != nil {
		return nil, t.s.records.Fault("look for an earlier run", err)
	}
	answer, err := t.finished(records[0])
	return answer, t.s.records.Fault("look for an earlier run", err)
}

// ReleaseLocks releases the locks of the run on records. ReleaseLocks is called before the run
// waits for something outside of the host. The later commit acquires its own locks.
func (v *View) ReleaseLocks() { txn.ReleaseLocks(v.tx) }
