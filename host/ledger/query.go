package ledger

import (
	"context"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// maxScanned bounds the entries that one query examines.
const maxScanned = 2_000

// Entries returns the entries of a tenant that a query selects, oldest first. More reports whether
// there may be others; next is the After of the query for them.
func (l *Ledger) Entries(ctx context.Context, tenant string, q Query) (found []Entry, next string, more bool, err error) {
	if q.Limit < 1 {
		return nil, "", false, abi.Faultf(abi.InvalidArgument, "a list needs a limit of at least 1")
	}
	c := partition.Caller{Tenant: tenant}
	after := l.from(c, q.Since)
	if q.After != "" {
		after = max(after, l.Key(c, q.After))
	}
	found = []Entry{}
	page := records.PageContents{}
	for scanned := 0; scanned < maxScanned; {
		chunk, last, err := l.db.ScanPart(ctx, l.Prefix(c), after)
		if err != nil {
			return nil, "", false, l.db.Fault("read the ledger", err)
		}
		for _, r := range chunk {
			e, err := Decode(r)
			if err != nil {
				return nil, "", false, l.db.Fault("read the ledger", err)
			}
			selected := !r.Expired(l.db.Now()) && q.matches(e)
			if selected && !page.Add(int64(len(r.Content))) {
				return found, next, true, nil
			}
			after, next = r.Key, e.Run
			if !selected {
				continue
			}
			if found = append(found, e); len(found) == q.Limit {
				return found, next, true, nil
			}
		}
		if last {
			return found, next, false, nil
		}
		scanned += max(len(chunk), 1)
	}
	return found, next, true, nil
}

// from returns a key before the entries from a time on, "" for all. The ids of entries are ULIDs,
// which begin with their time. The At of an entry is at most slack earlier.
func (l *Ledger) from(c partition.Caller, since time.Time) storage.Key {
	const slack = time.Second
	since = since.Add(-slack)
	if since.UnixMilli() <= 0 {
		return ""
	}
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // of ULIDs; the first 10 of 26 encode milliseconds
	id := []byte(strings.Repeat("0", 26))
	for i, ms := 9, since.UnixMilli(); i >= 0; i, ms = i-1, ms>>5 {
		id[i] = digits[ms&31]
	}
	return l.Key(c, string(id))
}
