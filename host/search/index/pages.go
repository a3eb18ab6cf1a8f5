package index

import (
	"cmp"
	"context"

	"github.com/toolrun/toolrun/host/storage"
)

// The limits of a page of records.
const (
	// firstRecords is the number of records on a first page. pageRecords is the maximum number of
	// records on each later page. It limits the size of a page of large entries that follows a page
	// of small entries.
	firstRecords = 16
	pageRecords  = 64
	// pageBytes is the intended maximum size of the contents on a page.
	pageBytes = 4 << 20
)

// pages reads the records under a prefix page by page. If a page contains large records, the next
// page has fewer records.
type pages struct {
	backend storage.Backend
	prefix  storage.Key
	after   storage.Key // the last key that was read
	limit   int         // the number of records on the next page; 0 means firstRecords
}

// The method "next" returns the next page. The result "more" is true if more records can follow.
func (p *pages) next(ctx context.Context) (records []storage.Record, more bool, err error) {
	limit := cmp.Or(p.limit, firstRecords)
	records, err = p.backend.Scan(ctx, p.prefix, p.after, limit)
	if err != nil || len(records) < limit {
		return records, false, err
	}
	p.after = records[len(records)-1].Key
	largest := 1
	for _, r := range records {
		largest = max(largest, len(r.Content))
	}
	p.limit = min(2*limit, pageRecords, max(pageBytes/largest, 1))
	return records, true, nil
}
