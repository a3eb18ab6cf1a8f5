package memory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// Tx is what a transaction is for.
type Tx struct {
	Caller Caller
	// Authority is what the body may do. Default: nothing.
	Authority Authority
	// Session is what the caller's session is given before the first attempt. Without a session, sessionMeta
	// shows it to this transaction alone.
	Session SessionStart
	// Look says that the transaction only looks: it neither begins a session nor notes its use.
	Look bool
	// Dry says that nothing is to be stored: Done.Changes tells what would be. Key is then ignored.
	Dry bool
	// Entry is what the ledger gets to know besides what the transaction did; nil for nothing.
	Entry *LedgerEntry
	// Key, where it is not empty, makes the transaction idempotent: its answer is kept in the same commit, and
	// the same key with the same Fingerprint is answered with it. Another fingerprint is a conflict. One of the form
	// "input=x context=y" lets the conflict name the parts that differ.
	Key         string
	Fingerprint string
	// Answer makes the answer that is kept under Key, from what the transaction did. It is called inside the
	// commit, maybe more than once, and must be pure.
	Answer func(abi.Effects) ([]byte, error)
}

// Done is what became of a transaction.
type Done struct {
	// Effects are what the last attempt read and wrote.
	Effects  abi.Effects
	Attempts int
	// Changes are what a dry transaction would have stored.
	Changes []abi.Change
	// Noted says that the ledger has the transaction.
	Noted bool
	// Earlier is the answer of an earlier transaction with the same key, which stands for this one; the body
	// was not executed, or what it did was dropped.
	Earlier []byte
}

// Transact executes body in attempts until one commits or fails. It returns what body returned where body
// failed: then nothing is stored. Its own errors are *abi.Fault, or the context's error.
//
// Body gets a View that is good until it returns. It must end soon after ctx does, return the error of a View's
// method that is no *abi.Fault, and have no effect outside of the View.
func (s *Service) Transact(ctx context.Context, tx Tx, body func(ctx context.Context, v *View) error) (Done, error) {
	var done Done
	if err := tx.Caller.check(); err != nil {
		return done, err
	}
	if err := checkID("idempotent run", tx.Key); err != nil {
		return done, err
	}
	if tx.Dry {
		tx.Key, tx.Entry, tx.Look = "", nil, true
	}
	keyTurn, err := s.takeKey(ctx, tx)
	if err != nil {
		return done, err
	}
	defer keyTurn.release()
	// Before the session is used: a run that is not run again changes nothing of it.
	if earlier, err := s.earlier(ctx, tx); err != nil || earlier != nil {
		return Done{Earlier: earlier}, err
	}
	var turn *held
	defer func() { turn.release() }()
	var first *View
	var memo memo
	for {
		done.Attempts++
		v, err := s.begin(ctx, tx, done.Attempts)
		if err != nil {
			return done, err
		}
		v.turn, v.memo = turn, &memo
		if first == nil {
			first = v
		}
		if err := erasedSince(first.erased, v.erased); err != nil {
			return done, err // another attempt would bring back what was erased
		}
		err = v.attempt(ctx, tx, body, &done)
		turn = v.turn
		if !errors.Is(err, errConflict) {
			return done, err
		}
		turn.release()
		turn, err = s.turns.take(ctx, v.touched())
		if err != nil || ctx.Err() != nil {
			return done, stillConflict(ctx)
		}
	}
}

// memo is what the attempts of one transaction hand on.
type memo struct {
	// overQuota is true once a commit found the quota full, which the attempt was not told at a call.
	overQuota bool
	// reclaimed is true once expired records were freed for a call.
	reclaimed bool
}

// stillConflict is the fault of a run that met others until its time was over, or until it was given up.
func stillConflict(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return abi.Faultf(abi.Conflict, "other runs changed the same records until the time was over").
		WithHint("try again, or let fewer runs write the same record at once")
}

// takeKey lets transactions with one key go one after the other.
func (s *Service) takeKey(ctx context.Context, tx Tx) (*held, error) {
	if tx.Key == "" {
		return nil, nil
	}
	turn, err := s.turns.take(ctx, []storage.Key{s.finishedKey(tx.Caller, tx.Key)})
	if err != nil {
		return nil, stillConflict(ctx)
	}
	return turn, nil
}

// earlier returns the answer of an earlier transaction with the same key, nil where there is none.
func (s *Service) earlier(ctx context.Context, tx Tx) ([]byte, error) {
	if tx.Key == "" {
		return nil, nil
	}
	records, err := s.backend.Get(ctx, s.finishedKey(tx.Caller, tx.Key))
	if err != nil {
		return nil, s.hostFault("look for an earlier run", err)
	}
	answer, err := s.finished(tx, records[0])
	return answer, s.hostFault("look for an earlier run", err)
}

// anchors are what an attempt stands on beside the records it reads.
type anchors struct {
	anchorKeys []storage.Key
	session    storage.Record
	erased     storage.Record
	// lone is what sessionMeta shows where there is no session.
	lone sessionState
}

// begin makes the View of an attempt: the caller's session is there and may be used.
func (s *Service) begin(ctx context.Context, tx Tx, attempt int) (*View, error) {
	v := &View{s: s, caller: tx.Caller, authority: tx.Authority, looks: tx.Look, dry: tx.Dry, given: tx.Session}
	v.anchorKeys = s.anchorKeys(tx.Caller)
	start := tx.Session
	if attempt > 1 {
		start = SessionStart{Reference: start.Reference, UserReference: start.UserReference}
	}
	if err := v.anchor(ctx, start, tx.Session); err != nil {
		return nil, s.hostFault("begin a run", err)
	}
	v.now = s.now()
	return v, nil
}

// anchor reads the session and whether the user was erased, and lets the session begin where it has not.
func (v *View) anchor(ctx context.Context, start, lone SessionStart) error {
	if v.caller.Session == "" {
		if err := v.setLone(lone); err != nil {
			return err
		}
	}
	for range 2 {
		if len(v.anchorKeys) == 0 {
			return nil
		}
		records, err := v.s.backend.Get(ctx, v.anchorKeys...)
		if err != nil {
			return err
		}
		v.setAnchors(records)
		stale, err := v.sessionStale(start)
		if err != nil || !stale || v.looks {
			return err
		}
		if err := v.s.useSession(ctx, v.caller, start); err != nil {
			return err
		}
		start = SessionStart{}
	}
	return nil
}

func (v *View) setLone(start SessionStart) error {
	if err := start.check(); err != nil {
		return err
	}
	patch, err := v.s.metadataPatch(start.Metadata)
	if err != nil || patch == nil {
		return err
	}
	v.lone.Metadata, err = v.s.mergeMetadata(nil, patch)
	return err
}

// anchorKeys are the keys of the records that a caller stands on.
func (s *Service) anchorKeys(c Caller) []storage.Key {
	keys := make([]storage.Key, 0, 2)
	if c.Session != "" {
		keys = append(keys, s.sessionKey(c))
	}
	if c.User != "" {
		keys = append(keys, s.erasedKey(c))
	}
	return slices.Clip(keys)
}

// setAnchors takes what was read under anchorKeys.
func (v *View) setAnchors(records []storage.Record) {
	v.session, v.erased = v.splitAnchors(records)
}

func (v *View) splitAnchors(records []storage.Record) (session, erased storage.Record) {
	if v.caller.Session != "" {
		session, records = records[0], records[1:]
	}
	if v.caller.User != "" {
		erased = records[0]
	}
	return session, erased
}

// sessionStale reports whether the session must be written before the run: it has not begun, is not yet bound
// to its user, was not noted as used for a while, or is given something.
func (v *View) sessionStale(start SessionStart) (bool, error) {
	if v.caller.Session == "" {
		return false, nil
	}
	state, err := decodeSession(v.session)
	if err != nil {
		return false, err
	}
	now := v.s.now()
	if err := v.s.checkSession(v.session, state, v.caller, now); err != nil {
		return false, err
	}
	given := !isAbsent(start.Metadata) ||
		start.Reference != "" && start.Reference != state.Reference ||
		start.UserReference != "" && start.UserReference != state.UserReference
	return given || !v.session.Exists() || state.User != v.caller.User ||
		now.Sub(v.session.Updated) > v.s.sessionIdle/8, nil
}

// checkAnchors fails where what the attempt stands on has gone.
func (v *View) checkAnchors(records []storage.Record, at time.Time) error {
	session, erased := v.splitAnchors(records)
	if v.caller.Session != "" && (session.Exists() || !v.looks) {
		if !v.s.sessionOpen(session, at) {
			return abi.Faultf(abi.SessionEnded, "the session ended during the run; nothing was stored")
		}
		state, err := decodeSession(session)
		if err != nil {
			return err
		}
		if state.User != v.caller.User && (state.User != "" || !v.looks) {
			return abi.Faultf(abi.AccessDenied, "the session was bound to a user during the run; nothing was stored")
		}
	}
	return erasedSince(v.erased, erased)
}

// erasedSince fails where a user was erased between two looks at the mark of that. A mark that is gone was swept.
func erasedSince(before, now storage.Record) error {
	if !now.Exists() || now.SameVersion(before) && now.Updated.Equal(before.Updated) {
		return nil
	}
	return abi.Faultf(abi.Cancelled, "the user was erased during the run; nothing was stored")
}
