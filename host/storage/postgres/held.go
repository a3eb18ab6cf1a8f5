package postgres

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/toolrun/toolrun/host/storage"
)

const (
	selectVersions = `select key, revision, generation from records where key = any($1)`
	selectFloors   = ` union all select key, revision, '' from floors where key = any($1)`
	// selectRange limits the number of records that it reads. One record more than in the observed
	// range is enough to detect a change.
	selectRange = `select key, revision, generation from records
		where key >= $1 and key < $2 and key > $3 and ($4 = ''::bytea or key <= $4) order by key limit $5`
)

// queueHeld adds queries that compare the versions in the argument "held" with the versions of the
// stored records. The queries do not read the contents of records. If the stored versions differ
// from the versions in "held", *changed is set to true.
func queueHeld(batch *pgx.Batch, held storage.Held, changed *bool) {
	*changed = false
	if len(held.Versions) > 0 {
		keys, sql := make([][]byte, len(held.Versions)), selectVersions
		for i, v := range held.Versions {
			keys[i] = []byte(v.Key)
			if storage.IsFloor(v.Key) {
				sql = selectVersions + selectFloors
			}
		}
		batch.Queue(sql, keys).Query(eachVersions(func(found []storage.Version) {
			now := make(map[storage.Key]storage.Version, len(found))
			for _, v := range found {
				now[v.Key] = v
			}
			for _, v := range held.Versions {
				was := storage.Version{Revision: v.Revision, Generation: v.Generation}
				is := storage.Version{Revision: now[v.Key].Revision, Generation: now[v.Key].Generation}
				*changed = *changed || was != is
			}
		}))
	}
	for _, g := range held.Ranges {
		batch.Queue(selectRange, []byte(g.Prefix), prefixEnd(g.Prefix), []byte(g.After), []byte(g.Last), len(g.Seen)+1).
			Query(eachVersions(func(found []storage.Version) { *changed = *changed || !slices.Equal(found, g.Seen) }))
	}
}

// eachVersions returns a callback for a queued query whose rows are versions.
func eachVersions(use func([]storage.Version)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var found []storage.Version
		for rows.Next() {
			var key, generation []byte
			var v storage.Version
			if err := rows.Scan(&key, &v.Revision, &generation); err != nil {
				return err
			}
			v.Key, v.Generation = storage.Key(key), string(generation)
			found = append(found, v)
		}
		use(found)
		return rows.Err()
	}
}
