package txn

import "context"

// Nested executes the function "body" as a nested transaction. Calls to Nested can be nested at
// most MaxDepth deep. An attempt can make at most MaxNested calls. If the function "body" fails,
// Nested undoes its writes and warnings and returns its error. All records that the function "body"
// has read stay in the read set.
//
// A conflict ends the whole attempt. The end of the outer transaction's context also ends the whole
// attempt. A caller of Nested cannot recover from a conflict or from the end of the context.
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

// rollBack undoes the updates that were made after a mark, in reverse order.
func (tx *Tx) rollBack(mark int) {
	if tx.run.db.breaks(failedUndone) {
		return
	}
	for len(tx.local.undo) > mark {
		if e := tx.local.undo[len(tx.local.undo)-1].entry; !e.read && !tx.run.db.breaks(undoneJoin) {
			joinAsSeen(tx, e)
		}
		tx.local.restore()
	}
}

// joinAsSeen adds a record to the read set when the blind updates of the record are undone. The
// body knows that the blind updates succeeded, and may depend on their success. Because the updates
// were undone, the commit does not repeat them.
func joinAsSeen(tx *Tx, e *entry) {
	tx.join(e)
	tx.reads.hold(&e.raw, e.key)
	if e.at.Before(tx.reads.held.Since) {
		tx.reads.held.Since = e.at
	}
	tx.reads.unverified = !tx.run.db.breaks(undoneChecked) // the record may have changed or expired since the read
}
