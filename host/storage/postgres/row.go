package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolrun/toolrun/host/storage"
)

// The constants contain the columns of read queries, with and without the content of a record.
const (
	columns       = `r.key, r.revision, r.generation, r.created, r.updated, r.expires, r.run, r.tags, octet_length(r.content)::bigint, `
	recordColumns = columns + `r.content`
	headColumns   = columns + `null::bytea`
)

// collect returns a callback for a queued query. The callback sets *found to the rows of the query.
func collect(found *[]storage.Head) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		*found = nil
		for rows.Next() {
			var h storage.Head
			var key, generation, run []byte
			var created, updated, expires *int64
			var tags [][]byte
			if err := rows.Scan(&key, &h.Revision, &generation, &created, &updated, &expires, &run, &tags, &h.ContentBytes, &h.Content); err != nil {
				return err
			}
			h.Key, h.Generation, h.Run = storage.Key(key), string(generation), string(run)
			h.Created, h.Updated, h.Expires = timeOf(created), timeOf(updated), timeOf(expires)
			for _, tag := range tags {
				h.Tags = append(h.Tags, string(tag))
			}
			*found = append(*found, h)
		}
		return rows.Err()
	}
}

// rowOf returns the arguments of putRecord.
func rowOf(r storage.Record) []any {
	part := func(tag storage.Tag) []byte { return []byte(r.Key.Part(tag)) }
	return []any{
		[]byte(r.Key), part(storage.Tenant), part(storage.App), part(storage.Store), r.Revision, []byte(r.Generation),
		microsOf(r.Created), microsOf(r.Updated), microsOf(r.Expires), []byte(r.Run), bytesOf(r.Tags), notNil(r.Content),
	}
}

func notNil(content []byte) []byte {
	if content == nil {
		return []byte{}
	}
	return content
}

func timeOf(micros *int64) time.Time {
	if micros == nil {
		return time.Time{}
	}
	return time.UnixMicro(*micros).UTC()
}

func microsOf(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	micros := t.UnixMicro()
	return &micros
}

func bytesOf[T ~string](all []T) [][]byte {
	converted := make([][]byte, len(all))
	for i, s := range all {
		converted[i] = []byte(s)
	}
	return converted
}

// prefixEnd returns the smallest key that is greater than every key with the given prefix. The
// first byte of a key is a tag, which is never 0xFF.
func prefixEnd(prefix storage.Key) []byte {
	end := []byte(prefix)
	for n := len(end); n > 0; n-- {
		if end[n-1] < 0xff {
			end[n-1]++
			return end[:n]
		}
	}
	return []byte{0xff}
}
