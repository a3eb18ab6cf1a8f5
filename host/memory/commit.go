package memory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

const (
	// commitTimeout bounds a commit, which no cancellation reaches.
	commitTimeout = 30 * time.Second
	// runRetention is how long it stays known that a run committed which left no record of its own.
	runRetention = time.Hour
)

// attempt executes body once and ends the attempt: with a commit where body succeeded, with a last look at what
// it read in any case. v.turn are the turns that it holds, before and after.
func (v *View) attempt(ctx context.Context, tx Tx, body func(context.Context, *View) error, done *Done) error {
	failure := body(ctx, v)
	if v.over == nil && failure == nil && v.turn == nil && v.writesAnything() && v.s.turns.busy(v.touched()) {
		// Others wait in line for these records; committing past them would starve them.
		waited, err := v.s.turns.take(ctx, v.touched())
		if err != nil {
			return stillConflict(ctx)
		}
		v.turn = waited
	}
	err := v.finish(ctx, tx, failure, done)
	v.over = errors.New("the attempt is over")
	return err
}

// finish ends an attempt whose body returned failure.
func (v *View) finish(ctx context.Context, tx Tx, failure error, done *Done) error {
	if errors.Is(v.over, errConflict) {
		return errConflict
	}
	if ctx.Err() != nil {
		if failure == nil {
			failure = endOf(ctx)
		}
		done.Effects = v.effects(nil) // what it read it may have told
		return failure
	}
	if failure == nil && tx.Dry {
		return v.rehearse(ctx, tx, done)
	}
	if failure == nil && (v.writesAnything() || tx.Key != "") {
		return v.commit(ctx, tx, done)
	}
	if err := v.lastLook(ctx); err != nil {
		return err
	}
	done.Effects = v.effects(nil)
	return failure
}

// endOf is why ctx has ended: a fault that is the cause, or else what every context ends with. Other causes are whoever's
// who cancelled it.
func endOf(ctx context.Context) error {
	if f, ok := errors.AsType[*abi.Fault](context.Cause(ctx)); ok {
		return f
	}
	return ctx.Err()
}

func (v *View) writesAnything() bool {
	for _, e := range v.entries {
		if e.wrote {
			return true
		}
	}
	return false
}

// touched are the keys that the attempt read or wrote.
func (v *View) touched() []storage.Key {
	var keys []storage.Key
	for _, e := range v.entries {
		if e.read || e.wrote {
			keys = append(keys, e.key)
		}
	}
	return keys
}

// lastLook checks, for an attempt that stores nothing, that what it stands on and what it read still holds.
func (v *View) lastLook(ctx context.Context) error {
	keys := v.anchorKeys
	for _, e := range v.entries {
		if e.read {
			keys = e.appendKeys(keys)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	records, err := v.s.backend.Get(ctx, keys...)
	if err != nil {
		return v.s.hostFault("check what a run read", err)
	}
	snap := v.s.snapshot(keys, records)
	if err := v.checkAnchors(records[:len(v.anchorKeys)], snap.at); err != nil {
		return err
	}
	return v.verify(snap, v.entries)
}

// commit stores what the attempt wrote in one backend transaction: if every record that it read is unchanged
// and what it stands on holds. Once the backend has begun with it, no cancellation stops it.
func (v *View) commit(ctx context.Context, tx Tx, done *Done) error {
	c := &commit{v: v, tx: tx, keys: v.commitKeys(tx), attempts: done.Attempts}
	inTime, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	err := c.settled(inTime, func() error { return v.s.backend.Update(inTime, storage.Keys(c.keys...), c.decide) })
	if errors.Is(err, storage.ErrUnknownOutcome) {
		err = c.lookUp(ctx, err)
	}
	if errors.Is(err, errConflict) {
		return errConflict
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return endOf(ctx) // before the backend began
	}
	if err != nil {
		return v.s.hostFault("commit", noDeadline(err))
	}
	done.Effects, done.Earlier = c.effects, c.earlier
	done.Noted = tx.Entry != nil && v.s.KeepsLedger()
	return nil
}

// noDeadline keeps a backend that did not answer in commitTimeout from looking like the caller's deadline.
func noDeadline(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("the backend did not commit in time")
	}
	return err
}

// commitKeys are all keys that a commit reads or writes: the anchors first.
func (v *View) commitKeys(tx Tx) []storage.Key {
	keys := append(v.anchorKeys, v.account().keys...)
	switch {
	case tx.Key != "":
		keys = append(keys, v.s.finishedKey(tx.Caller, tx.Key))
	case v.onlyDeletes():
		keys = append(keys, v.s.runKey(v.caller))
	}
	if tx.Entry != nil && v.s.KeepsLedger() {
		keys = append(keys, v.s.ledgerKey(v.caller, tx.Entry.Run))
	}
	for _, e := range v.entries {
		if e.read || e.wrote {
			keys = append(append(keys, e.key), e.ends...)
		}
		if e.begins || e.wrote && (!e.read || !e.base.Exists()) {
			keys = append(keys, storage.FloorKey(e.key)) // it may begin the record
		}
	}
	unique := keys[:0]
	for _, key := range keys {
		if !slices.Contains(unique, key) {
			unique = append(unique, key)
		}
	}
	return unique
}

// commit is one commit under way. What decide sets is of its last call.
type commit struct {
	v    *View
	tx   Tx
	keys []storage.Key

	attempts int
	// ahead is what blind writes were found to make of records that changed since the attempt looked at them.
	ahead map[*entry]madeOf
	// locked is what the last decide worked on in the backend's transaction; see redoCheaply.
	locked int
	// foreseen are the effects that the commit has if no record changes in between, and kept is what is then kept of
	// the run: it may be large, and is made before others wait for the commit.
	foreseen abi.Effects
	kept     []byte
	// full is why nothing may grow, nil where there is room.
	full error

	effects abi.Effects
	changes []abi.Change
	earlier []byte
	writes  []storage.Write
}

// decide is the function of the backend's transaction: given the records as they are, it answers what to write.
func (c *commit) decide(now []storage.Record) ([]storage.Write, error) {
	v := c.v
	c.writes, c.earlier, c.locked = nil, nil, 0
	snap := v.s.snapshot(c.keys, now)
	if c.tx.Key != "" {
		kept, _ := snap.record(v.s.finishedKey(c.tx.Caller, c.tx.Key))
		answer, err := v.s.finished(c.tx, kept)
		if err != nil || answer != nil {
			c.earlier = answer
			return nil, err
		}
	}
	if err := v.checkAnchors(now[:len(v.anchorKeys)], snap.at); err != nil {
		return nil, err
	}
	if err := v.verify(snap, v.entries); err != nil {
		return nil, err
	}
	outcomes, err := c.settle(snap)
	if err != nil {
		return nil, err
	}
	c.effects = v.effects(outcomes)
	c.changes = v.changes(outcomes)
	if err := c.enter(); err != nil {
		return nil, err
	}
	if err := c.note(snap); err != nil {
		return nil, err
	}
	return c.writes, c.allowed(snap)
}

// allowed refuses writes for which there is no room.
func (c *commit) allowed(snap snapshot) error {
	account := c.v.account()
	records := make([]storage.Record, len(account.keys))
	for i, key := range account.keys {
		records[i], _ = snap.record(key)
	}
	held, err := decodeHoldings(records)
	if err != nil {
		return err
	}
	var grown holdings
	for _, w := range c.writes {
		old, _ := snap.record(w.Record.Key)
		grown.add(account, storage.Change{Old: storage.HeadOf(old), Write: w})
	}
	if grown.app.Bytes > 0 && c.full != nil {
		return c.full
	}
	return c.v.s.overQuota(held, grown)
}

// enter adds the entry of the ledger.
func (c *commit) enter() error {
	if c.tx.Entry == nil || !c.v.s.KeepsLedger() {
		return nil
	}
	entry := *c.tx.Entry
	entry.Attempts, entry.Reads, entry.Writes = c.attempts, c.effects.Reads, slices.Clone(c.effects.Writes)
	writes, err := c.v.s.noteEntry(c.writes, c.v.caller, entry)
	c.writes = writes
	return err
}

// outcome is what a commit makes of one entry.
type outcome struct {
	next       storage.Record
	violations []abi.Violation
}

// settle decides every written entry on the latest records.
func (c *commit) settle(snap snapshot) (map[*entry]outcome, error) {
	v := c.v
	outcomes := map[*entry]outcome{}
	for _, e := range v.entries {
		if !e.wrote {
			continue
		}
		raw, _ := snap.record(e.key)
		base, known := v.alive(snap, e.store, raw)
		if !known {
			return nil, errConflict
		}
		d, err := c.redo(e, base)
		if err != nil {
			return nil, err
		}
		above := int64(0)
		if !base.Exists() {
			above = aboveIn(snap, e)
		}
		next := v.nextOn(e, base, d, above)
		next.Content = d.bytes
		outcomes[e] = outcome{next: next, violations: d.violations}
		if d.exists {
			c.writes = append(c.writes, storage.Write{Record: next})
		} else if raw.Exists() {
			c.writes = append(c.writes, storage.Write{Record: storage.Record{Key: e.key}, Delete: true})
		}
	}
	return outcomes, nil
}

// note adds what the host itself keeps about the run: the answer under its key, or that it committed where
// no record shows it.
func (c *commit) note(snap snapshot) error {
	v := c.v
	var key storage.Key
	var content []byte
	var retention time.Duration
	switch {
	case c.tx.Key != "":
		kept, err := c.keptAnswer()
		if err != nil {
			return err
		}
		key, retention = v.s.finishedKey(c.tx.Caller, c.tx.Key), v.s.keyRetention
		content = kept
	case v.onlyDeletes() && len(c.writes) > 0:
		key, retention = v.s.runKey(v.caller), runRetention
		content = []byte("{}")
	default:
		return nil
	}
	before, _ := snap.record(key)
	c.writes = v.s.writeContent(c.writes, before, key, content, v.now.Add(retention), v.caller)
	if v.caller.Session != "" {
		c.writes = endingWith(c.writes, v.s.sessionKey(v.caller))
	}
	return nil
}

// onlyDeletes reports whether the attempt leaves no record that could bear its run's id.
func (v *View) onlyDeletes() bool {
	for _, e := range v.entries {
		if e.wrote && e.draft.exists {
			return false
		}
	}
	return true
}

// lookUp finds out whether a commit took place whose acknowledgement was lost: each record that it wrote bears
// the run's id. Where none does, nobody knows, for the commit may still be on its way.
func (c *commit) lookUp(ctx context.Context, lost error) error {
	var keys []storage.Key
	for _, w := range c.writes {
		if !w.Delete {
			keys = append(keys, w.Record.Key)
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout) // the commit's may be over
	defer cancel()
	records, err := c.v.s.backend.Get(ctx, keys...)
	if err == nil {
		for _, r := range records {
			if r.Exists() && r.Run == c.v.caller.Run {
				return nil
			}
		}
	}
	c.v.s.log.Error("the outcome of a commit is unknown", "run", c.v.caller.Run, "error", errors.Join(lost, err))
	f := abi.Faultf(abi.Unavailable, "the memory backend did not say whether the run was stored").
		WithHint("look at what is stored before running it again; runs with an idempotency key can be repeated safely")
	f.Outcome = "unknown"
	return f
}

// effects says what the attempt read and, for a commit, wrote.
func (v *View) effects(outcomes map[*entry]outcome) abi.Effects {
	effects := abi.Effects{Reads: []abi.ReadEffect{}, Writes: []abi.WriteEffect{}}
	for _, e := range v.entries {
		if e.read {
			effects.Reads = append(effects.Reads, abi.ReadEffect{Store: e.name, Revision: e.base.Revision})
		}
		result, wrote := outcomes[e]
		if !wrote {
			continue
		}
		effect := abi.WriteEffect{Store: e.name, Revision: result.next.Revision, Op: "set", Violations: result.violations}
		if !result.next.Exists() {
			effect.Op = "delete"
		}
		effects.Writes = append(effects.Writes, effect)
	}
	return effects
}
