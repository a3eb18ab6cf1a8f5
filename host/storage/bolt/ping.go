package bolt

import "context"

// Ping commits a transaction that changes nothing, and so reports whether the database can be written: the disk
// takes bytes, and keeps them. It costs a commit; callers who ask often keep the answer for a while.
func (b *Backend) Ping(ctx context.Context) error {
	return b.submit(ctx, sender{}, nothing)
}

// nothing has a transaction committed in which nothing else may be written.
func nothing(t *transaction) error {
	t.wrote = true
	return nil
}
