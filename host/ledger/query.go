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

// maxScanned is the maximum number of entries that one query examines.
const maxScanned = 2_000

// Entries returns the entries of a tenant that a query selects. The oldest entry is first. If the
// result "more" is true, there can be further entries. To get them, repeat the query with the
// result "next" in the field After.
func (l *Ledger) Entries(ctx context.Context, tenant string, q Query) (found []Entry, next string, more bool, err error) {
	if q.Limit < 1 {
		return nil, "", false, abi.Faultf(abi.InvalidArgument, "the limit must be at least 1")
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

// The method "from" returns a key that precedes the keys of all entries since the given time. For
// the zero time, the method returns "". The ids of entries are ULIDs, which begin with their time.
// The field At of an entry can be earlier than the time in the entry's id. The difference is at
// most the constant "slack".
func (l *Ledger) from(c partition.Caller, since time.Time) storage.Key {
	const slack = time.Second
	since = since.Add(-slack)
	if since.UnixMilli() <= 0 {
		return ""
	}
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // the first 10 of the 26 digits of a ULID encode milliseconds
	id := []byte(strings.Repeat("0", 26))
	for i, ms := 9, since.UnixMilli(); i >= 0; i, ms = i-1, ms>>5 {
		id[i] = digits[ms&31]
	}
	return l.Key(c, string(id))
}
