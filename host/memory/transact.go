package memory

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// Tx is what a transaction is for.
type Tx struct {
	Caller partition.Caller
	// Authority is what the body may do. Default: nothing.
	Authority Authority
	// Session is what the caller's session is given before the first attempt. Without a session, sessionMeta
	// shows it to this transaction alone.
	Session session.Start
	// ReadOnly says that the transaction only looks: it neither begins a session nor notes its use.
	ReadOnly bool
	// DryRun says that nothing is to be stored: Done.Changes tells what would be. Key is then ignored.
	DryRun bool
	// LedgerEntry is what the ledger gets to know besides what the transaction did; nil for nothing.
	LedgerEntry *ledger.Entry
	// Key, where it is not empty, makes the transaction idempotent: its answer is kept in the same commit, and
	// the same key with the same Fingerprint is answered with it. Another fingerprint is a conflict. One of the form
	// "input=x context=y" lets the conflict name the parts that differ.
	Key         string
	Fingerprint string
	// Answer makes the answer that is kept under Key, from what the transaction did. It is called inside the
	// commit, maybe more than once, and must be pure.
	Answer func(report.Effects) ([]byte, error)
}

// Done is what became of a transaction.
type Done struct {
	// Effects are what the last attempt read and wrote.
	Effects  report.Effects
	Attempts int
	// Changes are what a dry transaction would have stored.
	Changes []report.Change
	// Recorded says that the ledger has the transaction.
	Recorded bool
	// Replayed is the answer of an earlier transaction with the same key, which stands for this one; the body
	// was not executed, or what it did was dropped.
	Replayed []byte
}

// transaction is what the attempts of one call of Transact share.
type transaction struct {
	s  *Service
	tx Tx
	anchors
	// view is that of the current attempt.
	view *View
	// reclaimed is true once expired records were freed for a call.
	reclaimed bool
	// limits is the budget of the caller, once it was needed; see transaction.budget.
	limits storage.Budget
}

// Transact executes body in attempts until one commits or fails. It returns what body returned where body
// failed: then nothing is stored. Its own errors are *abi.Fault, or the context's error.
//
// Body gets a View that is good until it returns. It must end soon after ctx does, return the error of a View's
// method that is no *abi.Fault, and have no effect outside of the View.
func (s *Service) Transact(ctx context.Context, tx Tx, body func(ctx context.Context, v *View) error) (Done, error) {
	if err := tx.Caller.Check(); err != nil {
		return Done{}, err
	}
	if err := partition.CheckID("idempotent run", tx.Key); err != nil {
		return Done{}, err
	}
	if tx.DryRun {
		tx.Key, tx.LedgerEntry, tx.ReadOnly = "", nil, true
	}
	t := &transaction{s: s, tx: tx}
	unlock, err := t.lockKey(ctx)
	if err != nil {
		return Done{}, err
	}
	defer unlock()
	// Before the session is used: a run that is not run again changes nothing of it.
	if earlier, err := t.earlier(ctx); err != nil || earlier != nil {
		return Done{Replayed: earlier}, err
	}
	if err := t.begin(ctx); err != nil {
		return Done{Attempts: 1}, s.records.Fault("begin a run", err)
	}
	out, err := s.db.Run(ctx, t.options(), func(ctx context.Context, kernel *txn.Tx) error {
		t.view = &View{s: s, caller: tx.Caller, authority: tx.Authority, run: t, tx: kernel}
		err := body(ctx, t.view)
		t.view.over = errOver
		if err != nil {
			return &bodyError{err}
		}
		return nil
	})
	return t.done(ctx, out, err)
}

// errOver is the error of a View that is used after its body returned.
var errOver = errors.New("the attempt is over")

// bodyError is what a body returned.
type bodyError struct{ error }

// done is what became of the transaction, given what became of the kernel's.
func (t *transaction) done(ctx context.Context, out txn.Outcome, err error) (Done, error) {
	done := Done{Attempts: out.Attempts, Effects: t.effects(out.Effects)}
	earlier, replayed := errors.AsType[earlierAnswer](err)
	switch {
	case replayed:
		done.Replayed = earlier.answer
		return done, nil
	case err == nil && t.tx.DryRun:
		done.Changes = t.changes(out.Effects)
	case err == nil:
		done.Recorded = out.Committed && t.tx.LedgerEntry != nil && t.s.ledger.Enabled()
	}
	return done, t.fault(ctx, err)
}

// fault is what callers may know of an error of the kernel. What the body returned comes back as it is.
func (t *transaction) fault(ctx context.Context, err error) error {
	if own, ok := errors.AsType[*bodyError](err); ok {
		return own.error
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, txn.ErrConflict):
		return stillConflict(ctx)
	case errors.Is(err, storage.ErrUnknownOutcome):
		return t.unknownOutcome(err)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return endOf(ctx)
	}
	return t.s.records.Fault("commit", t.s.records.SpaceFault(err))
}

// endOf returns why ctx has ended: the cause if it is a fault, or else the context's own error.
func endOf(ctx context.Context) error {
	if f, ok := errors.AsType[*abi.Fault](context.Cause(ctx)); ok {
		return f
	}
	return ctx.Err()
}

// stillConflict is the fault of a run that met others until its time was over, or until it was given up.
func stillConflict(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return abi.Faultf(abi.Conflict, "other runs changed the same records until the time was over").
		WithHint("try again, or let fewer runs write the same record at once")
}

// unknownOutcome is the fault of a run that may or may not have been stored.
func (t *transaction) unknownOutcome(err error) error {
	t.s.log.Error("the outcome of a commit is unknown", "run", t.tx.Caller.Run, "error", err)
	f := abi.Faultf(abi.Unavailable, "the memory backend did not say whether the run was stored").
		WithHint("look at what is stored before running it again; runs with an idempotency key can be repeated safely")
	f.Outcome = "unknown"
	return f
}

// lockKey lets transactions with one key go one after the other.
func (t *transaction) lockKey(ctx context.Context) (unlock func(), err error) {
	if t.tx.Key == "" {
		return func() {}, nil
	}
	if unlock, err = t.s.db.Lock(ctx, t.s.app.Finished(t.tx.Caller, t.tx.Key)); err != nil {
		return nil, stillConflict(ctx)
	}
	return unlock, nil
}

// earlier returns the answer of an earlier transaction with the same key, nil where there is none.
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
