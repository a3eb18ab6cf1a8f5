package bolt

import "context"

// Ping implements storage.Backend. Ping commits a transaction that changes nothing, to check that
// the database can be written. If a caller needs the result of Ping often, the caller should cache
// the result.
func (b *Backend) Ping(ctx context.Context) error {
	return b.submit(ctx, sender{}, nothing)
}

// nothing writes nothing. The transaction is committed even if none of its requests writes.
func nothing(t *transaction) error {
	t.wrote = true
	return nil
}
