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
	// Authority contains the rights of the body. Default: none.
	Authority Authority
	// Session contains the data that the session of the caller receives before the first attempt.
	// If the caller has no session, these data are visible in sessionMeta, but only during the
	// transaction.
	Session session.Start
	// If ReadOnly is set, the transaction does not start a session or a workflow, and does not
	// record the use of a session or a workflow.
	ReadOnly bool
	// If Unlimited is set, no quota applies to the transaction. The writes of the transaction still
	// count toward the usage. Unlimited is intended for host records, which must not wait until a
	// user frees space.
	Unlimited bool
	// If EndIdle is set, the commit of the transaction ends the session of the caller, which must
	// be idle. The transaction can use the records of the session. For all other transactions,
	// these records are invisible.
	EndIdle bool
	// If DryRun is set, nothing is stored, Done.Changes lists the changes, and Key is ignored.
	DryRun bool
	// LedgerEntry is the ledger entry of the transaction, or nil. The transaction adds its effects
	// to the ledger entry.
	LedgerEntry *ledger.Entry
	// Key is the idempotency key of the transaction, or "". The commit stores the answer under the
	// idempotency key. A later transaction with the same Key and the same Fingerprint returns the
	// stored answer.
	//
	// A later transaction with the same Key and a different Fingerprint fails with the fault
	// conflict. If the Fingerprint has the form "input=x context=y", the message of this fault
	// lists the parts that differ.
	Key         string
	Fingerprint string
	// Claim is set if the transaction executes an approved run again. The commit ends the request for
	// approval. If the Claim is no longer valid, nothing is stored.
	Claim *approval.Claim
	// Answer returns the answer to store under Key, based on the effects of the transaction. Answer
	// is called inside the commit, possibly several times, and must be pure.
	Answer func(report.Effects) ([]byte, error)
}

// Done is the result of a transaction of a Service.
type Done struct {
	// Effects are the reads and writes of the last attempt.
	Effects  report.Effects
	Attempts int
	// Changes are the changes that a dry run would have stored.
	Changes []report.Change
	// Remembered are the entries of collections among the changes.
	Remembered []report.Remembered
	// Recorded reports whether the ledger contains an entry of the transaction.
	Recorded bool
	// Replayed is the answer of an earlier transaction with the same idempotency key, or nil. If
	// Replayed is not nil, the body was not executed, or its writes were discarded.
	Replayed []byte
}

// transaction is the state that all attempts of one call to Transact share.
type transaction struct {
	s  *Service
	tx Tx
	anchors
	// view is the View of the current attempt.
	view *View
	// reclaimed reports whether a call has already freed expired records.
	reclaimed bool
	// The field limits is the budget of the caller. The method budget computes the budget at its
	// first call.
	limits storage.Budget
}

// Transact executes body in attempts until an attempt commits or fails. If body fails, nothing is
// stored, and Transact returns the error of body. Every other error of Transact is an *abi.Fault or
// the error of the context. Transact copies tx and does not modify the original.
//
// The function body receives a View, which is valid until body returns. Body must return soon after
// ctx ends. If a method of the View returns an error that is not an *abi.Fault, body must return
// this error. Body must have no effects except through the View.
func (s *Service) Transact(ctx context.Context, tx *Tx, body func(ctx context.Context, v *View) error) (Done, error) {
	if err := tx.Caller.Check(); err != nil {
		return Done{}, err
	}
	if err := partition.CheckID("idempotent run", tx.Key); err != nil {
		return Done{}, err
	}
	t := &transaction{s: s, tx: *tx}
	if tx.DryRun {
		t.tx.Key, t.tx.LedgerEntry, t.tx.ReadOnly = "", nil, true
	}
	unlock, err := t.lockKey(ctx)
	if err != nil {
		return Done{}, err
	}
	defer unlock()
	// The idempotency key is checked before the session is used, because a replayed run must not
	// change its session.
	if earlier, err := t.earlier(ctx); err != nil || earlier != nil {
		return Done{Replayed: earlier}, err
	}
	if err := t.begin(ctx); err != nil {
		return Done{Attempts: 1}, s.records.Fault("begin a run", err)
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

// errClosed is the error of a View that is used after the body has returned.
var errClosed = errors.New("the attempt has ended")

// bodyError is an error that a body returned.
type bodyError struct{ error }

// The method "done" returns the result of the transaction, based on the outcome of the txn
// transaction.
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

// refresh makes the writes of a commit visible to the next searches in this process, because
// PostgreSQL can report the commit late.
func (t *transaction) refresh(e txn.Effects) {
	keys := make([]storage.Key, len(e.Writes))
	for i, c := range e.Writes {
		keys[i] = c.Key
	}
	t.s.index.Refresh(keys...)
}

// fault converts an error of package txn to the error for callers. fault returns an error of the
// body unchanged.
func (t *transaction) fault(ctx context.Context, err error) error {
	if own, ok := errors.AsType[*bodyError](err); ok {
		return own.error
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, txn.ErrConflict):
		return conflictUntilDeadline(ctx)
	case errors.Is(err, storage.ErrUnknownOutcome):
		return t.unknownOutcome(err)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return contextFault(ctx)
	}
	return t.s.records.Fault("commit", t.s.records.SpaceFault(err))
}

// contextFault returns the cause of the end of ctx if the cause is a fault, and otherwise the error
// of ctx.
func contextFault(ctx context.Context) error {
	if f, ok := errors.AsType[*abi.Fault](context.Cause(ctx)); ok {
		return f
	}
	return ctx.Err()
}

// conflictUntilDeadline returns the fault of a run that had conflicts until its deadline. If the
// run was canceled, conflictUntilDeadline returns the error of the context.
func conflictUntilDeadline(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return abi.Faultf(abi.Conflict, "the run reached its time limit because other runs kept changing the same records").
		WithHint("retry, or reduce the number of concurrent runs that write the same record")
}

// unknownOutcome returns the fault of a run if the host does not know whether the run was
// committed.
func (t *transaction) unknownOutcome(err error) error {
	t.s.log.Error("the outcome of a commit is unknown", "run", t.tx.Caller.Run, "error", err)
	f := abi.Faultf(abi.Unavailable, "the storage backend did not report whether it stored the run's writes").
		WithHint("check the stored records before a retry, or use an idempotency key")
	f.Outcome = "unknown"
	return f
}

// lockKey acquires a lock that serializes the transactions with one idempotency key. The
// transaction holds the lock until its end, even while the transaction waits for an external call.
// Without the lock, a retry would repeat the external call.
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

// earlier returns the stored answer of an earlier transaction with the same idempotency key, or nil
// if no answer is stored.
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

// ReleaseLocks releases the locks of the run on records, before it waits for something outside of
// the host. The commit acquires its own locks again.
func (v *View) ReleaseLocks() { txn.ReleaseLocks(v.tx) }
