package records

import (
	"context"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

const (
	// Chunk limits how many records a scan or a removal processes at once.
	Chunk = 256
	// scanBytes limits the contents that a scan holds in memory. If a single record is larger than
	// scanBytes, the scan holds only this record.
	scanBytes = 8 << 20
)

// Heads returns a function that reads heads of records. The keys of these records begin with a
// prefix and follow a given key.
func (db *DB) Heads(ctx context.Context, prefix storage.Key) func(after storage.Key, limit int) ([]storage.Head, error) {
	return func(after storage.Key, limit int) ([]storage.Head, error) {
		return db.Backend.Heads(ctx, prefix, after, limit)
	}
}

// ScanHeads calls the function "visit" with the heads of all records whose keys begin with a
// prefix. ScanHeads reads the heads in chunks.
func (db *DB) ScanHeads(ctx context.Context, prefix storage.Key, visit func([]storage.Head) error) error {
	chunks := db.Heads(ctx, prefix)
	return eachChunk(func(after storage.Key) ([]storage.Head, error) { return chunks(after, Chunk) }, visit)
}

// ScanTag calls the function "visit" with the heads of all records that have a tag. ScanTag reads
// the heads in chunks.
func (db *DB) ScanTag(ctx context.Context, what storage.Selector, visit func([]storage.Head) error) error {
	return eachChunk(func(after storage.Key) ([]storage.Head, error) {
		return db.Backend.ScanTag(ctx, what, after, Chunk)
	}, visit)
}

// eachChunk calls the function "next" for chunks of heads and passes each chunk to the function
// "visit". eachChunk ends after a chunk with fewer than Chunk heads.
func eachChunk(next func(after storage.Key) ([]storage.Head, error), visit func([]storage.Head) error) error {
	for after := storage.Key(""); ; {
		chunk, err := next(after)
		if err != nil || len(chunk) == 0 {
			return err
		}
		last := len(chunk) < Chunk
		after = chunk[len(chunk)-1].Key
		if err := visit(chunk); err != nil || last {
			return err
		}
	}
}

// Scan is like ScanHeads, but also reads the contents. Scan reads the contents in chunks of limited
// size. Scan reads the heads first and the contents later. Scan skips records that are removed
// between these reads.
func (db *DB) Scan(ctx context.Context, prefix storage.Key, visit func([]storage.Record) error) error {
	return db.ScanHeads(ctx, prefix, db.WithContents(ctx, visit))
}

// WithContents returns a function. For given heads, the function reads the records and calls the
// function "visit" with each record. The function reads the contents in parts of limited size.
func (db *DB) WithContents(ctx context.Context, visit func([]storage.Record) error) func([]storage.Head) error {
	return func(heads []storage.Head) error {
		for len(heads) > 0 {
			keys := firstOf(heads, scanBytes)
			heads = heads[len(keys):]
			records, err := db.Backend.Get(ctx, keys...)
			if err != nil {
				return err
			}
			if err := visit(existing(records)); err != nil {
				return err
			}
		}
		return nil
	}
}

// ScanPart returns the first records after a key. The keys of the records begin with a prefix. A
// second result reports whether no further records follow. The total size of the returned contents
// is at most PageBytes. If the first record is larger, ScanPart returns only this record. If a
// record is removed during the call, ScanPart skips the record.
func (db *DB) ScanPart(ctx context.Context, prefix, after storage.Key) (found []storage.Record, last bool, err error) {
	heads, err := db.Backend.Heads(ctx, prefix, after, Chunk)
	if err != nil || len(heads) == 0 {
		return nil, true, err
	}
	keys := firstOf(heads, PageBytes)
	records, err := db.Backend.Get(ctx, keys...)
	return existing(records), len(keys) == len(heads) && len(heads) < Chunk, err
}

// firstOf returns the keys of the first records whose contents have at most the given total size.
// firstOf returns at least one key.
func firstOf(heads []storage.Head, bytes int64) (keys []storage.Key) {
	size := int64(0)
	for _, h := range heads {
		if size += h.ContentBytes; size > bytes && len(keys) > 0 {
			break
		}
		keys = append(keys, h.Key)
	}
	return keys
}

// existing returns the list without zero Records. In the list, a zero Record represents a missing
// record.
func existing(records []storage.Record) []storage.Record {
	found := records[:0]
	for _, r := range records {
		if r.Exists() {
			found = append(found, r)
		}
	}
	return found
}

// EachTenant calls the function "visit" with each tenant that has records of a given kind. The
// records belong to the app. EachTenant skips the tenants in the set "seen". EachTenant adds each
// visited tenant to the set. EachTenant reads from the backend once for each tenant, and once more
// for each other app of a tenant.
func (db *DB) EachTenant(ctx context.Context, kind string, seen map[string]bool, visit func(tenant string) error) error {
	prefix := storage.MakeKey(storage.Part{Tag: storage.System, Value: kind})
	for after := storage.Key(""); ; {
		next, err := db.Backend.Heads(ctx, prefix, after, 1)
		if err != nil || len(next) == 0 {
			return err
		}
		tenant, app := next[0].Key.Tenant(), partition.App(next[0].Key.Part(storage.App))
		if app == db.App && !seen[tenant] {
			seen[tenant] = true
			if err := visit(tenant); err != nil {
				return err
			}
		}
		after = app.System(kind, partition.Caller{Tenant: tenant}) + "\xff" // after all records of the app
	}
}
