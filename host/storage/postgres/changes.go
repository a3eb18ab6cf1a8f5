package postgres

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/toolrun/toolrun/host/storage"
)

// PostgreSQL does not expose the order of commits to readers. The package does not number the
// commits, because each commit would then have to wait for the disk writes of all earlier commits.
// Changes are therefore ordered by transaction id. A change is reported only when no older
// transaction is in progress. PostgreSQL assigns the id of a transaction after taking its snapshot.
// The id is therefore higher than the ids of all transactions that the snapshot contains. If two
// transactions write the same record, the second transaction begins after the first transaction has
// ended, or one of the transactions is rolled back.
const (
	// selectHorizon is the query for the highest transaction id that is lower than the ids of all
	// transactions in progress.
	selectHorizon = `select pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1`
	selectChanges = `select xid, n, key, revision, generation, deleted from changes
		where (xid, n) > ($1, $2) and xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint and key >= $3 and key < $4
		order by xid, n limit $5`
	putChanges = `insert into changes (xid, n, key, revision, generation, deleted)
		select pg_current_xact_id()::text::bigint, n, k, r, g, d
		from unnest($1::bytea[], $2::bigint[], $3::bytea[], $4::boolean[]) with ordinality as c (k, r, g, d, n)`
	// forgetChanges limits the number and the age of the changes in the history. The age is limited
	// because keys in the history can contain ids of erased users.
	forgetChanges = `with last as (select greatest(
			coalesce((select xid - 1 from changes where at >= now() - interval '1 hour' order by xid, n limit 1), (select max(xid) from changes)),
			(select xid from changes order by xid desc, n desc offset 65536 limit 1)) as xid),
		noted as (update meta set forgotten = last.xid from last where last.xid > forgotten)
		delete from changes using last where changes.xid <= last.xid`
)

// queuePosition adds a query for the position of the current transaction's snapshot.
func queuePosition(batch *pgx.Batch, at *storage.Position) {
	batch.Queue(selectHorizon).QueryRow(func(row pgx.Row) error {
		var xid uint64
		err := row.Scan(&xid)
		*at = storage.EndOf(xid)
		return err
	})
}

// Changes implements storage.Backend. Changes reports the changes of a transaction when all older
// transactions have ended.
func (b *Backend) Changes(ctx context.Context, prefix storage.Key, since storage.Position, limit int) ([]storage.Changed, storage.Position, error) {
	if err := storage.CheckLimit(limit); err != nil {
		return nil, storage.Position{}, err
	}
	var found []storage.Changed
	var last, now storage.Position
	var forgotten uint64
	err := b.read(ctx, func(batch *pgx.Batch) {
		// The query for changes is not part of a serializable transaction, because such a
		// transaction would conflict with every writer.
		batch.Queue(`begin isolation level repeatable read read only`)
		queuePosition(batch, &now)
		batch.Queue(`select forgotten from meta`).QueryRow(func(row pgx.Row) error { return row.Scan(&forgotten) })
		batch.Queue(selectChanges, since.Commit, int32(min(since.Index, math.MaxInt32)), []byte(prefix), prefixEnd(prefix), limit).
			Query(func(rows pgx.Rows) (err error) {
				found, last, err = collectChanges(rows)
				return err
			})
		batch.Queue(`commit`)
	})
	switch {
	case err != nil:
		return nil, storage.Position{}, err
	case since == storage.Position{} || since.Before(storage.EndOf(forgotten)) || now.Before(since):
		return nil, storage.Position{}, storage.ErrTooOld
	case len(found) < limit:
		return found, now, nil
	}
	return found, last, nil
}

// collectChanges reads rows of selectChanges and returns the position of the last row.
func collectChanges(rows pgx.Rows) (found []storage.Changed, last storage.Position, err error) {
	for rows.Next() {
		var c storage.Changed
		var key, generation []byte
		if err := rows.Scan(&last.Commit, &last.Index, &key, &c.Revision, &generation, &c.Deleted); err != nil {
			return nil, last, err
		}
		c.Key, c.Generation = storage.Key(key), string(generation)
		found = append(found, c)
	}
	return found, last, rows.Err()
}

// queueLog adds the statement that appends some changes to the history.
func queueLog(batch *pgx.Batch, changes []storage.Change) {
	var keys, generations [][]byte
	var revisions []int64
	var deleted []bool
	for _, c := range changes {
		v := c.Changed()
		keys, generations = append(keys, []byte(v.Key)), append(generations, []byte(v.Generation))
		revisions, deleted = append(revisions, v.Revision), append(deleted, v.Deleted)
	}
	if len(changes) > 0 {
		batch.Queue(putChanges, keys, revisions, generations, deleted)
	}
}

// forget removes the oldest changes.
func (b *Backend) forget(ctx context.Context) error { return b.execute(ctx, forgetChanges) }

// Ping implements storage.Backend.
func (b *Backend) Ping(ctx context.Context) error {
	return b.execute(ctx, `update meta set format = format`)
}

// execute runs a statement that writes, in a separate transaction.
func (b *Backend) execute(ctx context.Context, sql string) error {
	return b.read(ctx, func(batch *pgx.Batch) {
		batch.Queue(`begin isolation level read committed read write`)
		batch.Queue(sql)
		batch.Queue(`commit`)
	})
}
