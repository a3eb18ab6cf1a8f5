package txn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/toolrun/toolrun/host/storage"
)

// scanChunk is how many rows are looked for at a time.
const scanChunk = 256

// Scan returns the first records under prefix after a key, in the order of keys: up to n, less only if there are no more.
// Like Get it returns them as the transaction sees them. The range up to the last one joins the read set: the commit is a
// conflict if a record in it was inserted, changed or removed. Records in it whose life has ended count for MaxRecords, too.
func (tx *Tx) Scan(ctx context.Context, prefix, after storage.Key, n int) ([]storage.Record, error) {
	if n < 1 || n > MaxRecords {
		return nil, fmt.Errorf("a scan returns from 1 to %d records, not %d", MaxRecords, n)
	}
	if err := tx.usable(); err != nil {
		return nil, err
	}
	return (&scan{tx: tx, prefix: prefix, after: after}).run(ctx, n)
}

// scan is one scan under way.
type scan struct {
	tx            *Tx
	prefix, after storage.Key
}

// run returns the first n records.
func (s *scan) run(ctx context.Context, n int) ([]storage.Record, error) {
	hidden, err := s.joinWrites(ctx)
	if err != nil {
		return nil, err
	}
	var rows []*entry
	last, end := s.after, false
	for visible := 0; visible < n+hidden && !end; {
		var chunk []*entry
		chunk, end, err = s.chunk(ctx, last, min(scanChunk, n+hidden-visible))
		if err != nil {
			return nil, err
		}
		for _, e := range chunk {
			if last = e.key; e.base.Exists() {
				rows, visible = append(rows, e), visible+1
			}
		}
	}
	return s.overlay(ctx, rows, n, func(key storage.Key) bool { return s.covers(key) && (end || key <= last) })
}

// covers reports whether a key is in the range of the scan.
func (s *scan) covers(key storage.Key) bool { return key.HasPrefix(s.prefix) && key > s.after }

// joinWrites puts what the transaction wrote in a range into the read set, for a scan shows it, and returns how many
// rows it deletes.
func (s *scan) joinWrites(ctx context.Context) (deleted int, err error) {
	for _, e := range s.tx.local.entries {
		if !e.write.set || !s.covers(e.key) {
			continue
		}
		if _, err := s.tx.load(ctx, e.key, true); err != nil {
			return 0, err
		}
		if !e.write.next.Exists() {
			deleted++
		}
	}
	return deleted, nil
}

// chunk brings rows into the read set, those whose life has ended included. End means that there are no more.
func (s *scan) chunk(ctx context.Context, after storage.Key, limit int) (rows []*entry, end bool, err error) {
	for range maxLooks {
		heads, err := s.tx.run.db.backend.Heads(ctx, s.prefix, after, limit)
		if err != nil {
			return nil, false, err
		}
		if err := s.fits(heads); err != nil {
			return nil, false, err
		}
		rows, err = s.readRange(ctx, rangeOf(s.prefix, after, limit, heads), heads)
		if !errors.Is(err, errRaced) {
			return rows, len(heads) < limit, err
		}
	}
	return nil, false, s.tx.conflict()
}

// rangeOf returns the range of a scan.
func rangeOf(prefix, after storage.Key, limit int, heads []storage.Head) storage.Range {
	rows := make([]storage.Record, len(heads))
	for i, h := range heads {
		rows[i] = h.Record
	}
	return storage.RangeOf(prefix, after, limit, rows)
}

// fits reports whether the attempt has room for rows.
func (s *scan) fits(heads []storage.Head) error {
	more, bytes := 0, 0
	for _, h := range heads {
		if s.tx.local.find(h.Key) == nil {
			more, bytes = more+1, bytes+int(h.ContentBytes)
		}
	}
	if alone := s.tx.local.bytes == 0 && more == 1; len(s.tx.local.entries)+more > MaxRecords || !alone && s.tx.local.bytes+bytes > MaxBytes {
		return ErrLimit
	}
	return nil
}

// errRaced means that a range changed while it was read.
var errRaced = errors.New("the range changed while it was read")

// readRange reads the contents of the rows of a range in a snapshot in which they, and everything that is held, are
// unchanged, and lets them join the read set.
func (s *scan) readRange(ctx context.Context, r storage.Range, heads []storage.Head) ([]*entry, error) {
	var want []storage.Key
	for _, h := range heads {
		if e := s.tx.local.find(h.Key); e == nil || !e.read {
			want = append(want, h.Key)
		}
	}
	rows := len(want)
	for range maxLooks {
		records, err := s.readHolding(ctx, want, r)
		if err != nil {
			return nil, err
		}
		found, missing := s.rows(heads, want, records)
		if len(missing) == 0 {
			s.joinRange(r, found)
			return found, nil
		}
		want = append(want[:rows:rows], missing...)
	}
	return nil, s.tx.conflict()
}

// readHolding is read with one more range. If only that one changed, the error is errRaced.
func (s *scan) readHolding(ctx context.Context, want []storage.Key, r storage.Range) ([]storage.Record, error) {
	records, err := s.tx.reads.read(ctx, want, r)
	if errors.Is(err, ErrConflict) {
		return nil, s.tx.conflict()
	}
	if !errors.Is(err, storage.ErrChanged) {
		return records, err
	}
	if _, err := s.tx.read(ctx, nil); err != nil {
		return nil, err
	}
	return nil, errRaced
}

// rows makes entries of rows: those that are known, and new ones. Missing are the keys of records that their lives depend
// on, and that were not read.
func (s *scan) rows(heads []storage.Head, want []storage.Key, records []storage.Record) (rows []*entry, missing []storage.Key) {
	fetched := make(map[storage.Key]storage.Record, len(want))
	for i, key := range want {
		fetched[key] = records[i]
	}
	for _, h := range heads {
		e := s.tx.local.find(h.Key)
		if e == nil || !e.read {
			e = &entry{key: h.Key, raw: fetched[h.Key], at: s.tx.reads.held.Since}
			var lacks []storage.Key
			e.base, e.life, lacks = s.tx.reads.visible(e.raw, s.tx.reads.at, func(key storage.Key) (storage.Record, bool) {
				r, ok := fetched[key]
				return r, ok
			})
			for _, key := range lacks {
				if !slices.Contains(missing, key) {
					missing = append(missing, key)
				}
			}
		}
		rows = append(rows, e)
	}
	return rows, missing
}

// joinRange puts a range and its rows into the read set.
func (s *scan) joinRange(r storage.Range, rows []*entry) {
	s.tx.reads.held.Ranges = append(s.tx.reads.held.Ranges, r)
	for _, e := range rows {
		if !e.read {
			s.tx.local.put(e)
			s.tx.join(e)
		}
		e.ranged = true
	}
}

// overlay returns the first n of the rows as the transaction sees them, its own new ones in the range included.
func (s *scan) overlay(ctx context.Context, rows []*entry, n int, within func(storage.Key) bool) ([]storage.Record, error) {
	for _, e := range s.tx.local.entries {
		if e.write.set && !e.base.Exists() && within(e.key) {
			rows = append(rows, e)
		}
	}
	slices.SortFunc(rows, func(a, b *entry) int { return cmp.Compare(a.key, b.key) })
	found := make([]storage.Record, 0, min(n, len(rows)))
	for _, e := range rows {
		if len(found) == n {
			break
		}
		var r storage.Record
		if err := s.tx.seen(ctx, e, &r); err != nil {
			return nil, err
		}
		if r.Exists() {
			found = append(found, r)
		}
	}
	return found, nil
}
