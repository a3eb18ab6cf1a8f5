package records

import (
	"context"

	"github.com/toolrun/toolrun/host/storage"
)

// DeleteWhere removes the selected records in chunks and returns their number. DeleteWhere calls
// the function "count" with each removed record.
func (db *DB) DeleteWhere(ctx context.Context, what storage.Selector, count func(storage.Head)) (int, error) {
	total := 0
	for {
		removed, err := db.Backend.DeleteWhere(ctx, what, Chunk)
		for _, h := range removed {
			count(h)
		}
		if total += len(removed); err != nil || len(removed) < Chunk {
			return total, err
		}
	}
}

// Remove removes the records with the given keys in the order of the keys and returns the number of
// removed records. Remove calls the function "count" with each removed record.
func (db *DB) Remove(ctx context.Context, keys []storage.Key, count func(storage.Head)) (int, error) {
	if len(keys) == 0 {
		return 0, nil
	}
	removed, err := db.Backend.DeleteWhere(ctx, storage.Selector{Keys: keys}, len(keys))
	for _, h := range removed {
		count(h)
	}
	return len(removed), err
}
