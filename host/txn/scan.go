package txn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/toolrun/toolrun/host/storage"
)

// scanChunk is the maximum number of rows that one call to the backend returns during a scan.
const scanChunk = 256

// Scan returns records under prefix in key order. The result contains the first n records whose
// keys are greater than the argument "after". Scan returns fewer than n records only if no further
// records exist. Like Get, Scan returns the records that the transaction sees.
//
// Scan adds the range up to the last returned record to the read set. If another transaction then
// inserts, changes or removes a record in the range, the change is a conflict. Expired records in
// the range count toward MaxRecords.
func (tx *Tx) Scan(ctx context.Context, prefix, after storage.Key, n int) ([]storage.Record, error) {
	if n < 1 || n > MaxRecords {
		return nil, fmt.Errorf("the limit of a scan must be between 1 and %d, not %d", MaxRecords, n)
	}
	if err := tx.usable(); err != nil {
		return nil, err
	}
	s := &scan{tx: tx, area: storage.Range{Prefix: prefix, After: after}}
	return s.run(ctx, n)
}

// scan is the state of a scan in progress.
type scan struct {
	tx   *Tx
	area storage.Range // the scanned keys, without versions
}

func (s *scan) run(ctx context.Context, n int) ([]storage.Record, error) {
	deleted, err := s.joinWrites(ctx)
	if err != nil {
		return nil, err
	}
	var rows []*entry
	last, end := s.area.After, false
	for visible := 0; visible < n+deleted && !end; {
		var chunk []*entry
		chunk, end, err = s.chunk(ctx, last, min(scanChunk, n+deleted-visible))
		if err != nil {
			return nil, err
		}
		for _, e := range chunk {
			if last = e.key; e.base.Exists() {
				rows, visible = append(rows, e), visible+1
			}
		}
	}
	if !end {
		s.area.Last = last
	}
	return s.records(ctx, rows, n)
}

// joinWrites adds the records that the transaction has written in the scanned range to the read
// set, because the scan returns these records. The result "deleted" is the number of records in the
// range that the transaction deletes.
func (s *scan) joinWrites(ctx context.Context) (deleted int, err error) {
	for _, e := range s.tx.local.entries {
		if !e.write.set || !s.area.Contains(e.key) {
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

// chunk reads the rows after a key and adds the rows to the read set. The argument "limit" is the
// maximum number of rows. Expired rows are included. The result "end" is true if no further rows
// exist.
func (s *scan) chunk(ctx context.Context, after storage.Key, limit int) (rows []*entry, end bool, err error) {
	for range maxReads {
		heads, err := s.tx.run.db.backend.Heads(ctx, s.area.Prefix, after, limit)
		if err != nil {
			return nil, false, err
		}
		rows, err = s.join(ctx, rangeOf(s.area.Prefix, after, limit, heads), heads)
		if !errors.Is(err, errRaced) {
			return rows, len(heads) < limit, err
		}
	}
	return nil, false, s.tx.conflict()
}

// rangeOf returns the range of keys that a read of heads has visited. The arguments describe the
// read.
func rangeOf(prefix, after storage.Key, limit int, heads []storage.Head) storage.Range {
	rows := make([]storage.Record, len(heads))
	for i, h := range heads {
		rows[i] = h.Record
	}
	return storage.RangeOf(prefix, after, limit, rows)
}

// join adds a range and its rows to the read set.
func (s *scan) join(ctx context.Context, r storage.Range, heads []storage.Head) ([]*entry, error) {
	unread, err := s.unread(heads)
	if err != nil {
		return nil, err
	}
	fetched, err := s.tx.fetch(ctx, unread, r)
	if err != nil {
		return nil, err
	}
	s.tx.reads.held.Ranges = append(s.tx.reads.held.Ranges, r)
	rows := make([]*entry, len(heads))
	for i, h := range heads {
		e := s.tx.local.find(h.Key)
		if e == nil || !e.read {
			e, fetched = s.tx.local.put(&fetched[0]), fetched[1:]
			s.tx.join(e)
		}
		e.ranged, rows[i] = true, e
	}
	return rows, nil
}

// unread returns the keys of rows that are not yet in the read set. If the unread rows would exceed
// the limits of the attempt, unread returns ErrLimit.
func (s *scan) unread(heads []storage.Head) (keys []storage.Key, err error) {
	o := &s.tx.local
	added, bytes := 0, 0
	for _, h := range heads {
		e := o.find(h.Key)
		if e == nil {
			added, bytes = added+1, bytes+int(h.ContentBytes)
		}
		if e == nil || !e.read {
			keys = append(keys, h.Key)
		}
	}
	if single := o.bytes == 0 && added == 1; len(o.entries)+added > MaxRecords || !single && o.bytes+bytes > MaxBytes {
		return nil, ErrLimit
	}
	return keys, nil
}

// records returns the first n records that the transaction sees in the scanned range. The result
// includes records that the transaction created in the scanned range.
func (s *scan) records(ctx context.Context, rows []*entry, n int) ([]storage.Record, error) {
	for _, e := range s.tx.local.entries {
		if e.write.set && !e.base.Exists() && s.area.Contains(e.key) {
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
		if err := s.tx.show(ctx, e, &r); err != nil {
			return nil, err
		}
		if r.Exists() {
			found = append(found, r)
		}
	}
	return found, nil
}
