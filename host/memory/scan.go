package memory

import (
	"context"

	"github.com/toolrun/toolrun/host/storage"
)

// scanBytes is how much content a scan holds at a time, unless one record has more.
const scanBytes = 8 << 20

// scanHeads calls visit with the heads of all records under a prefix, in chunks.
func (s *Service) scanHeads(ctx context.Context, prefix storage.Key, visit func([]storage.Head) error) error {
	return s.scanHeadsFrom(ctx, prefix, "", visit)
}

func (s *Service) scanHeadsFrom(ctx context.Context, prefix, after storage.Key, visit func([]storage.Head) error) error {
	for {
		chunk, err := s.backend.Heads(ctx, prefix, after, dropChunk)
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
	return s.scanFrom(ctx, prefix, "", visit)
}

// scanFrom is scan for the records behind a key.
func (s *Service) scanFrom(ctx context.Context, prefix, after storage.Key, visit func([]storage.Record) error) error {
	return s.scanHeadsFrom(ctx, prefix, after, func(heads []storage.Head) error {
		for len(heads) > 0 {
			n, size := 0, int64(0)
			var keys []storage.Key
			for n < len(heads) && (n == 0 || size+heads[n].ContentBytes <= scanBytes) {
				keys = append(keys, heads[n].Key)
				size += heads[n].ContentBytes
				n++
			}
			heads = heads[n:]
			records, err := s.backend.Get(ctx, keys...)
			if err != nil {
				return err
			}
			if err := visit(existing(records)); err != nil {
				return err
			}
		}
		return nil
	})
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
