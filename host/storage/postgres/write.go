package postgres

import (
	"cmp"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/toolrun/toolrun/host/storage"
)

const (
	putRecord = `insert into records (key, tenant, app, store, revision, generation, created, updated, expires, run, tags, content)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		on conflict (key) do update set revision = excluded.revision, generation = excluded.generation, created = excluded.created,
			updated = excluded.updated, expires = excluded.expires, run = excluded.run, tags = excluded.tags, content = excluded.content`
	deleteRecords = `delete from records where key = any($1)`

	putTags    = `insert into tags (tag, key) select * from unnest($1::bytea[], $2::bytea[]) on conflict do nothing`
	deleteTags = `delete from tags t using unnest($1::bytea[], $2::bytea[]) as d (tag, key) where t.tag = d.tag and t.key = d.key`

	raiseFloors = `insert into floors as f (key, revision) select * from unnest($1::bytea[], $2::bigint[])
		on conflict (key) do update set revision = greatest(f.revision, excluded.revision)`
)

// queueChanges adds the statements that apply changes. The order of the statements ensures that all
// transactions lock rows in the same order.
func queueChanges(batch *pgx.Batch, changes []storage.Change) {
	queueLog(batch, changes)
	changes = slices.SortedFunc(slices.Values(changes), func(x, y storage.Change) int { return cmp.Compare(x.Record.Key, y.Record.Key) })
	var deleted [][]byte
	for i, c := range changes {
		if !c.Delete {
			batch.Queue(putRecord, rowOf(c.Record)...)
			continue
		}
		deleted = append(deleted, []byte(c.Record.Key))
		if i+1 == len(changes) || !changes[i+1].Delete { // consecutive deletions share a statement
			batch.Queue(deleteRecords, deleted)
			deleted = nil
		}
	}
	before := func(c storage.Change) []string { return c.Old.Tags }
	after := func(c storage.Change) []string { return c.Record.Tags }
	queueTags(batch, deleteTags, changes, before, after)
	queueTags(batch, putTags, changes, after, before)
	queueUsage(batch, changes)
	queueFloors(batch, changes)
}

// queueTags adds the given SQL statement for some tags of each change. The tags are in the result
// of the function "in", but not in the result of the function "notIn".
func queueTags(batch *pgx.Batch, sql string, changes []storage.Change, in, notIn func(storage.Change) []string) {
	var tags, keys [][]byte
	for _, c := range changes {
		group, _ := c.Record.Key.Group()
		for _, tag := range in(c) {
			if !slices.Contains(notIn(c), tag) {
				tags, keys = append(tags, indexed(group, tag)), append(keys, []byte(c.Record.Key))
			}
		}
	}
	if len(keys) > 0 {
		batch.Queue(sql, tags, keys)
	}
}

// queueFloors adds the statement that raises the floors of removed records.
func queueFloors(batch *pgx.Batch, changes []storage.Change) {
	raised := map[storage.Key]int64{}
	for _, c := range changes {
		if floor, revision := c.Floor(); floor != "" {
			raised[floor] = max(raised[floor], revision)
		}
	}
	floors := slices.Sorted(maps.Keys(raised))
	revisions := make([]int64, len(floors))
	for i, floor := range floors {
		revisions[i] = raised[floor]
	}
	if len(floors) > 0 {
		batch.Queue(raiseFloors, bytesOf(floors), revisions)
	}
}
