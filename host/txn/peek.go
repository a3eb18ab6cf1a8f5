package txn

import (
	"context"

	"github.com/toolrun/toolrun/host/storage"
)

// Peek returns the records under the given keys, as the transaction sees the records. The records
// are from one snapshot. Unlike Get, Peek does not add the records to the read set, so the
// transaction can commit even if the records have changed. Effects.Reads contains the records with
// the revisions that were read. If the transaction has already used a record, Peek does not read
// the record again.
func (tx *Tx) Peek(ctx context.Context, keys ...storage.Key) ([]storage.Record, error) {
	if err := peekAll(ctx, tx, keys); err != nil {
		return nil, err
	}
	found := make([]storage.Record, len(keys))
	for i, key := range keys {
		e := tx.local.find(key)
		e.peeked = true
		tx.pending(e, &found[i])
	}
	return found, nil
}

// peekAll reads the records that the transaction has not used yet.
func peekAll(ctx context.Context, tx *Tx, keys []storage.Key) error {
	if err := tx.usable(); err != nil {
		return err
	}
	var missing []storage.Key
	for _, key := range keys {
		if tx.local.find(key) == nil {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if missing = newKeySet(missing); len(tx.local.entries)+len(missing) > MaxRecords {
		return ErrLimit
	}
	fetched, err := tx.fetch(ctx, missing)
	if err != nil {
		return err
	}
	for i := range fetched {
		if tx.local.bytes > 0 && tx.local.bytes+len(fetched[i].raw.Content) > MaxBytes {
			return ErrLimit
		}
		tx.local.put(&fetched[i])
	}
	return nil
}
