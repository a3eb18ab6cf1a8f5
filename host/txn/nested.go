package txn

import "context"

// saved is what an update of a nested transaction replaced.
type saved struct {
	entry *entry
	write write
}

// save notes what an entry was before an update.
func (tx *Tx) save(e *entry) {
	if tx.depth > 0 {
		tx.undo = append(tx.undo, saved{e, e.write})
	}
}

// Nested executes body as a part of the transaction, up to MaxDepth deep and MaxNested times an attempt. If body fails, what
// it wrote is undone, warnings included, and its error is returned; what it read stays in the read set. A conflict, and
// the end of the transaction's own context, cannot be caught: they end the whole attempt.
func (tx *Tx) Nested(ctx context.Context, body func(context.Context, *Tx) error) error {
	if err := tx.usable(); err != nil {
		return err
	}
	if tx.depth >= MaxDepth || tx.nested >= MaxNested {
		return ErrNestedLimit
	}
	mark, done := len(tx.undo), false
	tx.depth++
	tx.nested++
	defer func() {
		if tx.depth--; !done {
			tx.rollBack(mark)
		}
		if tx.depth == 0 {
			tx.undo = nil
		}
	}()
	err := body(ctx, tx)
	if over := tx.usable(); over != nil {
		return over
	}
	done = err == nil
	return err
}

// rollBack undoes the updates behind a mark, the last one first.
func (tx *Tx) rollBack(mark int) {
	for i := len(tx.undo) - 1; i >= mark && !tx.run.db.breaks(failedUndone); i-- {
		e, before := tx.undo[i].entry, tx.undo[i].write
		if !e.read && !tx.run.db.breaks(undoneJoin) {
			tx.joinAsSeen(e)
		}
		before.updates, before.bytes = nil, 0
		tx.bytes += len(before.next.Content) - len(e.write.next.Content)
		e.write = before
	}
	tx.undo = tx.undo[:mark]
}

// joinAsSeen puts a record into the read set whose blind updates are undone: that they were accepted showed something about
// the record as it was then, and no commit will apply them again.
func (tx *Tx) joinAsSeen(e *entry) {
	tx.join(e)
	tx.hold(e.raw, e.key)
	if e.at.Before(tx.held.Since) {
		tx.held.Since, tx.unverified = e.at, !tx.run.db.breaks(undoneChecked)
	}
}
