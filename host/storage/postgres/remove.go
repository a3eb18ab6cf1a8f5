package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/toolrun/toolrun/host/storage"
)

// The limits of one transaction. A removal uses several transactions.
const (
	maxRemoved      = 1000
	maxRemovedBytes = 4 << 20
)

// page is a function that returns a query. The query returns the heads of at most n matching
// records. All returned heads follow the record "last" in the order of the query.
type page func(last storage.Head, n int) (sql string, arguments []any)

// DeleteWhere implements storage.Backend.
func (b *Backend) DeleteWhere(ctx context.Context, what storage.Selector, limit int) ([]storage.Head, error) {
	if err := what.Check(limit); err != nil {
		return nil, err
	}
	if what.Expired.IsZero() {
		return b.remove(ctx, limit, selecting(what))
	}
	removed, err := b.remove(ctx, limit, expired(what))
	if err == nil && what.Group == "" {
		err = b.forget(ctx)
	}
	return removed, err
}

// ScanTag implements storage.Backend.
func (b *Backend) ScanTag(ctx context.Context, what storage.Selector, after storage.Key, limit int) (found []storage.Head, err error) {
	if err := what.CheckTag(limit); err != nil {
		return nil, err
	}
	err = b.read(ctx, func(batch *pgx.Batch) {
		sql, arguments := selecting(what)(storage.Head{Record: storage.Record{Key: after}}, limit)
		batch.Queue(sql, arguments...).Query(collect(&found))
	})
	return found, err
}

// selecting returns the page function for records that have a prefix, a tag or certain keys. The
// pages are in key order.
func selecting(what storage.Selector) page {
	from, end := []byte(what.Prefix), prefixEnd(what.Prefix)
	return func(last storage.Head, n int) (string, []any) {
		switch after := []byte(last.Key); {
		case len(what.Keys) > 0:
			return selectKeys, []any{n, after, bytesOf(what.Keys)}
		case what.Tag == "":
			return selectPrefix, []any{n, after, from, end}
		default:
			return selectTagged, []any{n, after, from, end, indexed(what.Group, what.Tag)}
		}
	}
}

// expired returns the page function for expired records, in the order of expiry.
func expired(what storage.Selector) page {
	return func(last storage.Head, n int) (string, []any) {
		from := int64(math.MinInt64)
		if last.Exists() {
			from = last.Expires.UnixMicro()
		}
		arguments := []any{n, []byte(last.Key), from, what.Expired.UnixMicro()}
		if what.Group == "" {
			return selectExpired + orderExpired, arguments
		}
		tenant, app := []byte(what.Group.Part(storage.Tenant)), []byte(what.Group.Part(storage.App))
		return selectExpired + ` and r.tenant = $5 and r.app = $6` + orderExpired, append(arguments, tenant, app)
	}
}

const (
	selectKeys   = `select ` + headColumns + ` from records r where r.key = any($3) and r.key > $2 order by r.key limit $1`
	selectPrefix = `select ` + headColumns + ` from records r where r.key >= $3 and r.key < $4 and r.key > $2 order by r.key limit $1`
	selectTagged = `select ` + headColumns + ` from tags t join records r on r.key = t.key
		where t.tag = $5 and t.key >= $3 and t.key < $4 and t.key > $2 order by t.key limit $1`
	selectExpired = `select ` + headColumns + ` from records r where r.expires <= $4 and (r.expires, r.key) > ($3, $2)`
	orderExpired  = ` order by r.expires, r.key limit $1`
)

// remove deletes matching records in transactions of bounded size. The argument "limit" is the
// maximum number of records. After the last record, the method starts again at the first record.
// The method ends after a whole pass that finds no records.
func (b *Backend) remove(ctx context.Context, limit int, next page) (removed []storage.Head, err error) {
	for last := (storage.Head{}); len(removed) < limit; {
		chunk, err := b.removeChunk(ctx, last, min(limit-len(removed), maxRemoved), next)
		if err != nil || len(chunk) == 0 && !last.Exists() {
			return removed, err
		}
		removed, last = append(removed, chunk...), storage.Head{}
		if len(chunk) > 0 {
			last = chunk[len(chunk)-1]
		}
	}
	return removed, nil
}

// removeChunk removes at most n records that follow the record "last". removeChunk runs one
// transaction, observes the limits of a transaction, and does not read contents.
func (b *Backend) removeChunk(ctx context.Context, last storage.Head, n int, next page) (removed []storage.Head, err error) {
	query := func(batch *pgx.Batch) {
		batch.Queue(beginUpdate)
		sql, arguments := next(last, n)
		batch.Queue(sql, arguments...).Query(collect(&removed))
	}
	err = b.transact(ctx, query, func() (changes []storage.Change, _ error) {
		size := int64(0)
		for _, h := range removed {
			if size += h.ContentBytes; size > maxRemovedBytes && len(changes) > 0 {
				break
			}
			changes = append(changes, storage.Removal(h))
		}
		removed = removed[:len(changes)]
		return changes, nil
	})
	if err != nil {
		return nil, err
	}
	return removed, nil
}

// maxIndexed is the maximum size of a tag in the index. An index entry contains the tag and the
// key, and must be smaller than 2,700 bytes.
const maxIndexed = 256

// indexed returns the form in which the index contains a tag of a tenant and app. If a tag is long,
// the tag is truncated and a hash is appended.
func indexed(group storage.Key, tag string) []byte {
	entry := append(binary.AppendUvarint(nil, uint64(len(group))), group...)
	if entry = append(entry, tag...); len(entry) <= maxIndexed {
		return entry
	}
	hash := sha256.Sum256(entry)
	return append(entry[:maxIndexed-len(hash)], hash[:]...)
}
