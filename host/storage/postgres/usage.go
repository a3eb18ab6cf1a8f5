package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/toolrun/toolrun/host/storage"
)

const (
	// addUsage is the statement that adds records and bytes to the usage of accounts. The id of the
	// connection's server process determines the shard of each account, so two transactions rarely
	// update the same row.
	addUsage = `insert into usage as u (account, shard, records, bytes)
		select a, pg_backend_pid() % n, r, b from unnest($1::bytea[], $2::integer[], $3::bigint[], $4::bigint[]) as d (a, n, r, b)
		on conflict (account, shard) do update set records = u.records + excluded.records, bytes = u.bytes + excluded.bytes`
	// deleteUsage removes the rows of empty accounts, because the name of an account can contain
	// the id of a user.
	deleteUsage = `delete from usage u where u.account = any($1)
		and (select sum(s.records) = 0 and sum(s.bytes) = 0 from usage s where s.account = u.account)`
	selectUsage = `select account, sum(records)::bigint, sum(bytes)::bigint from usage where account = any($1) group by account`
)

// The constants are the numbers of shards of one account. A user account has fewer shards than an
// app account, because a user has fewer concurrent commits and because there are many users.
const (
	appShards  = 64
	userShards = 8
)

// Usage implements storage.Backend.
func (b *Backend) Usage(ctx context.Context, accounts ...storage.Key) ([]storage.Usage, error) {
	var found totals
	if err := b.read(ctx, func(batch *pgx.Batch) { found.queue(batch, accounts) }); err != nil {
		return nil, err
	}
	usage := make([]storage.Usage, len(accounts))
	for i, account := range accounts {
		usage[i] = found[account]
	}
	return usage, nil
}

// totals contains the usage of accounts.
type totals map[storage.Key]storage.Usage

// queue adds statements that read the usage of accounts, in a separate transaction. If the
// serializable transaction read the sums, all commits of an app would conflict, because each commit
// changes usage that the other commits have read. The check of an update therefore uses the usage
// from before the update and does not include concurrent updates.
func (t *totals) queue(batch *pgx.Batch, accounts []storage.Key) {
	batch.Queue(`begin isolation level read committed read only`)
	batch.Queue(selectUsage, bytesOf(accounts)).Query(func(rows pgx.Rows) error {
		*t = make(totals, len(accounts))
		for rows.Next() {
			var account []byte
			var u storage.Usage
			if err := rows.Scan(&account, &u.Records, &u.Bytes); err != nil {
				return err
			}
			(*t)[storage.Key(account)] = u
		}
		return rows.Err()
	})
	batch.Queue(`commit`)
}

// The method "of" returns the usage of an account that the queries have read.
func (t *totals) of(account storage.Key) (storage.Usage, error) { return (*t)[account], nil }

// queueUsage adds statements that update the usage of accounts. The argument "changes" determines
// by how much the usage grows.
func queueUsage(batch *pgx.Batch, changes []storage.Change) {
	growth := storage.GrowthOf(changes)
	var accounts []storage.Key
	for account := range growth.All() {
		accounts = append(accounts, account)
	}
	slices.Sort(accounts)
	shards, records, bytes := make([]int32, len(accounts)), make([]int64, len(accounts)), make([]int64, len(accounts))
	var shrunk []storage.Key
	for i, account := range accounts {
		added := growth.Of(account)
		shards[i], records[i], bytes[i] = appShards, added.Records, added.Bytes
		if account.Part(storage.User) == "" {
			continue
		}
		if shards[i] = userShards; added.Bytes < 0 {
			shrunk = append(shrunk, account)
		}
	}
	if len(accounts) > 0 {
		batch.Queue(addUsage, bytesOf(accounts), shards, records, bytes)
	}
	if len(shrunk) > 0 {
		batch.Queue(deleteUsage, bytesOf(shrunk))
	}
}
