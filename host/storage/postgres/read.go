package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/toolrun/toolrun/host/storage"
)

// Get implements storage.Backend.
func (b *Backend) Get(ctx context.Context, keys ...storage.Key) (found []storage.Record, err error) {
	err = b.read(ctx, func(batch *pgx.Batch) { queueLookup(batch, keys, &found) })
	return found, err
}

// Read implements storage.Backend. Read always compares all observations in the argument "held" and
// ignores the field Since. To read only the writes after Since, Read would need a row that all
// writers update. Read would then conflict with every writer.
func (b *Backend) Read(ctx context.Context, want []storage.Key, held storage.Held) (found []storage.Record, at storage.Position, err error) {
	var changed bool
	err = b.read(ctx, func(batch *pgx.Batch) {
		queuePosition(batch, &at)
		queueHeld(batch, held, &changed)
		queueLookup(batch, want, &found)
	})
	if err == nil && changed {
		err = storage.ErrChanged
	}
	if err != nil {
		return nil, storage.Position{}, err
	}
	return found, at, nil
}

// Scan implements storage.Backend.
func (b *Backend) Scan(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Record, error) {
	heads, err := b.scan(ctx, recordColumns, prefix, after, limit)
	records := make([]storage.Record, len(heads))
	for i, h := range heads {
		records[i] = h.Record
	}
	return records, err
}

// Heads implements storage.Backend.
func (b *Backend) Heads(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Head, error) {
	return b.scan(ctx, headColumns, prefix, after, limit)
}

func (b *Backend) scan(ctx context.Context, columns string, prefix, after storage.Key, limit int) (found []storage.Head, err error) {
	if err := storage.CheckLimit(limit); err != nil {
		return nil, err
	}
	sql := `select ` + columns + ` from records r where r.key >= $1 and r.key < $2 and r.key > $3 order by r.key limit $4`
	err = b.read(ctx, func(batch *pgx.Batch) {
		batch.Queue(sql, []byte(prefix), prefixEnd(prefix), []byte(after), limit).Query(collect(&found))
	})
	return found, err
}

// read runs the statements that the function "queue" adds. All statements run in one transaction,
// on one snapshot, and in one round trip. For each attempt, the method calls "queue" again.
func (b *Backend) read(ctx context.Context, queue func(*pgx.Batch)) error {
	return b.retry(ctx, func(int) error {
		batch := &pgx.Batch{}
		queue(batch)
		return b.pool.SendBatch(ctx, batch).Close()
	})
}

const (
	selectRecords = `select ` + recordColumns + ` from records r where r.key = any($1)`
	// selectAll returns records and floors, with the same columns.
	selectAll = selectRecords + `
		union all select key, revision, '', null, null, null, '', '{}', 0, '' from floors where key = any($1)`
)

// queueLookup adds the query for the records under the given keys. After the batch has been
// executed, the slice "found" contains the records in the order of the keys.
func queueLookup(batch *pgx.Batch, keys []storage.Key, found *[]storage.Record) {
	sql := selectRecords
	if slices.ContainsFunc(keys, storage.IsFloor) {
		sql = selectAll
	}
	batch.Queue(sql, bytesOf(keys)).Query(func(rows pgx.Rows) error {
		var heads []storage.Head
		if err := collect(&heads)(rows); err != nil {
			return err
		}
		*found = inOrder(keys, heads)
		return nil
	})
}

// inOrder returns one record for each key. If a key has no record, the result contains a zero
// Record. The returned records do not share memory with each other.
func inOrder(keys []storage.Key, heads []storage.Head) []storage.Record {
	first := make(map[storage.Key]int, len(keys))
	for i, k := range slices.Backward(keys) {
		first[k] = i
	}
	records := make([]storage.Record, len(keys))
	for _, h := range heads {
		records[first[h.Key]] = h.Record
	}
	for i, k := range keys {
		if first[k] != i {
			records[i] = records[first[k]].Clone()
		}
	}
	return records
}
