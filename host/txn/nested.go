package txn

import "context"

// Nested executes body as a part of the transaction, up to MaxDepth deep and MaxNested times an
// attempt. If body fails, its writes and warnings are undone, and Nested returns its error; its
// reads stay in the read set. A conflict and the end of the transaction's own context cannot be
// caught: they end the whole attempt.
func (tx *Tx) Nested(ctx context.Context, body func(context.Context, *Tx) error) error {
	if err := tx.usable(); err != nil {
		return err
	}
	if tx.depth >= MaxDepth || tx.nested >= MaxNested {
		return ErrNestedLimit
	}
	mark, done := len(tx.local.undo), false
	tx.depth++
	tx.nested++
	defer func() {
		if tx.depth--; !done {
			tx.rollBack(mark)
		}
		if tx.depth == 0 {
			tx.local.undo = nil
		}
	}()
	err := body(ctx, tx)
	if over := tx.usable(); over != nil {
		return over
	}
	done = err == nil
	return err
}

// rollBack undoes the updates after a mark, the last one first.
func (tx *Tx) rollBack(mark int) {
	if tx.run.db.breaks(failedUndone) {
		return
	}
	for len(tx.local.undo) > mark {
		if e := tx.local.undo[len(tx.local.undo)-1].entry; !e.read && !tx.run.db.breaks(undoneJoin) {
			tx.joinAsSeen(e)
		}
		tx.local.restore()
	}
}

// joinAsSeen puts a record whose blind updates are undone into the read set. Their success revealed
// something about the record to the body, and no commit will apply them again.
func (tx *Tx) joinAsSeen(e *entry) {
	tx.join(e)
	tx.reads.hold(&e.raw, e.key)
	if e.at.Before(tx.reads.held.Since) {
		tx.reads.held.Since = e.at
	}
	tx.reads.unverified = !tx.run.db.breaks(undoneChecked) // it may have changed or ended since
}
