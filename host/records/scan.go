package records

import (
	"context"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

const (
	// Chunk is the maximum number of records that a scan or a removal handles at once.
	Chunk = 256
	// scanBytes bounds the contents that a scan holds in memory, unless a single record is larger.
	scanBytes = 8 << 20
)

// Heads returns a function that reads the heads under a prefix whose keys follow a key.
func (db *DB) Heads(ctx context.Context, prefix storage.Key) func(after storage.Key, limit int) ([]storage.Head, error) {
	return func(after storage.Key, limit int) ([]storage.Head, error) {
		return db.Backend.Heads(ctx, prefix, after, limit)
	}
}

// ScanHeads calls the function "visit" with the heads of all records under a prefix, in chunks.
func (db *DB) ScanHeads(ctx context.Context, prefix storage.Key, visit func([]storage.Head) error) error {
	chunks := db.Heads(ctx, prefix)
	return eachChunk(func(after storage.Key) ([]storage.Head, error) { return chunks(after, Chunk) }, visit)
}

// ScanTag calls the function "visit" with the heads of all records with a tag, in chunks.
func (db *DB) ScanTag(ctx context.Context, what storage.Selector, visit func([]storage.Head) error) error {
	return eachChunk(func(after storage.Key) ([]storage.Head, error) {
		return db.Backend.ScanTag(ctx, what, after, Chunk)
	}, visit)
}

// eachChunk calls the function "visit" with each chunk that the function "next" returns, until a
// chunk has fewer than Chunk heads.
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

// Scan is like ScanHeads, but also reads the contents, in chunks of a bounded size. Scan skips
// records that are removed between the read of the heads and the read of the contents.
func (db *DB) Scan(ctx context.Context, prefix storage.Key, visit func([]storage.Record) error) error {
	return db.ScanHeads(ctx, prefix, db.WithContents(ctx, visit))
}

// WithContents returns a function that reads the records of heads, in parts of a bounded size, and
// calls the function "visit" with the records.
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

// ScanPart returns the first records under a prefix after a key, and reports whether no further
// records follow. The contents of the returned records have at most PageBytes, unless the first
// record itself is larger. ScanPart skips records that are removed during the call.
func (db *DB) ScanPart(ctx context.Context, prefix, after storage.Key) (found []storage.Record, last bool, err error) {
	heads, err := db.Backend.Heads(ctx, prefix, after, Chunk)
	if err != nil || len(heads) == 0 {
		return nil, true, err
	}
	keys := firstOf(heads, PageBytes)
	records, err := db.Backend.Get(ctx, keys...)
	return existing(records), len(keys) == len(heads) && len(heads) < Chunk, err
}

// firstOf returns the keys of the first records whose contents together have at most the given
// number of bytes. firstOf returns at least one key.
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

// existing returns the records without the zero Records. A zero Record in the list stands for a
// missing record.
func existing(records []storage.Record) []storage.Record {
	found := records[:0]
	for _, r := range records {
		if r.Exists() {
			found = append(found, r)
		}
	}
	return found
}

// EachTenant calls the function "visit" with each tenant that has records of a kind of the app.
// EachTenant skips tenants in seen, and adds each visited tenant to seen. EachTenant reads from the
// backend once for each tenant, and once for each other app of a tenant.
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
		after = app.System(kind, partition.Caller{Tenant: tenant}) + "\xff" // after all records of the tenant and app
	}
}
