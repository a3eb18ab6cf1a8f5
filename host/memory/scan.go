package memory

import (
	"context"

	"github.com/toolrun/toolrun/host/storage"
)

// scanBytes is how much content a scan holds at a time, unless one record has more.
const scanBytes = 8 << 20

// scanHeads calls visit with the heads of all records under a prefix, in chunks.
func (s *Service) scanHeads(ctx context.Context, prefix storage.Key, visit func([]storage.Head) error) error {
	chunks := s.heads(ctx, prefix)
	return eachChunk(func(after storage.Key) ([]storage.Head, error) { return chunks(after, dropChunk) }, visit)
}

// eachChunk calls visit with chunks of up to dropChunk heads, as next returns those after a key, until one is smaller.
func eachChunk(next func(after storage.Key) ([]storage.Head, error), visit func([]storage.Head) error) error {
	for after := storage.Key(""); ; {
		chunk, err := next(after)
		if err != nil || len(chunk) == 0 {
			return err
		}
		last := len(chunk) < dropChunk
		after = chunk[len(chunk)-1].Key
		if err := visit(chunk); err != nil || last {
			return err
		}
	}
}

// scan is scanHeads with contents, for records that have to be read: in chunks of a bounded size. Records that are
// removed between the look at their heads and that at their contents are left out.
func (s *Service) scan(ctx context.Context, prefix storage.Key, visit func([]storage.Record) error) error {
	return s.scanHeads(ctx, prefix, s.withContents(ctx, visit))
}

// withContents returns a function that reads the records of heads, in parts of a bounded size, and calls visit with them.
func (s *Service) withContents(ctx context.Context, visit func([]storage.Record) error) func([]storage.Head) error {
	return func(heads []storage.Head) error {
		for len(heads) > 0 {
			keys := firstOf(heads, scanBytes)
			heads = heads[len(keys):]
			records, err := s.backend.Get(ctx, keys...)
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

// scanPart returns the first records under a prefix after a key, of at most pageBytes, and reports whether they are the
// last. Records that were removed meanwhile are left out.
func (s *Service) scanPart(ctx context.Context, prefix, after storage.Key) (found []storage.Record, last bool, err error) {
	heads, err := s.backend.Heads(ctx, prefix, after, dropChunk)
	if err != nil || len(heads) == 0 {
		return nil, true, err
	}
	keys := firstOf(heads, pageBytes)
	records, err := s.backend.Get(ctx, keys...)
	return existing(records), len(keys) == len(heads) && len(heads) < dropChunk, err
}

// firstOf returns the keys of the first records whose contents together have at most a number of bytes: at least one.
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

// existing returns the records that there are.
func existing(records []storage.Record) []storage.Record {
	found := records[:0]
	for _, r := range records {
		if r.Exists() {
			found = append(found, r)
		}
	}
	return found
}
