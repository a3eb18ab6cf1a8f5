package memory

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

const (
	// maxRoundHeads is the approximate maximum number of records that one call of Next examines.
	maxRoundHeads = 4096
	// maxServed is the maximum number of users that a Round remembers.
	maxServed = 10_000
)

// Round is a position in a walk over the due records of a tenant. A round covers the records that
// are due at its beginning. In a round, each user gets one run before any user gets a second run. A
// user with many conversations therefore does not delay other users. The zero Round begins at the
// first record. A Round is not safe for concurrent use.
type Round struct {
	until  time.Time // zero between two rounds
	after  storage.Key
	served map[string]bool // the users that have had a run in the round
}

// Ended reports whether the next call of Next begins a new round.
func (r *Round) Ended() bool { return r.until.IsZero() }

// Next returns up to n due records of different users of a tenant, and advances the round. If fewer
// than n users without a run are left in the round, Next also returns records of users that have
// had a run. Next reads the heads of a bounded number of records. The next call continues after
// these records.
func (q SleepQueue) Next(ctx context.Context, tenant string, r *Round, n int) ([]Due, error) {
	prefix := q.s.app.System(partition.SleepDue, partition.Caller{Tenant: tenant})
	t := roundPage{tenant: tenant, n: n, round: r, users: map[string]bool{}, spareUsers: map[string]bool{}}
	began := false
	for examined := 0; len(t.next) < n && examined < maxRoundHeads; {
		if r.until.IsZero() {
			if began {
				break
			}
			began, *r = true, Round{until: q.s.now(), served: map[string]bool{}}
		}
		heads, err := q.s.backend.Heads(ctx, prefix, r.after, records.Chunk)
		if err != nil {
			return nil, q.s.records.Fault(listing, err)
		}
		examined += len(heads)
		if ended := t.take(heads, q.s.now()); ended || len(t.next) < n && len(heads) < records.Chunk {
			r.until = time.Time{}
		}
	}
	return t.filled(), nil
}

// roundPage collects the records that Next returns.
type roundPage struct {
	tenant string
	n      int
	round  *Round
	next   []Due
	users  map[string]bool // the users of next
	// spare contains records of users that have had a run in the round.
	spare      []Due
	spareUsers map[string]bool
}

// take examines heads until it has found enough records. take reports whether the round has ended.
func (t *roundPage) take(heads []storage.Head, now time.Time) (ended bool) {
	for _, h := range heads {
		if len(t.next) == t.n {
			return false
		}
		d, ok := dueOf(h, t.tenant)
		if !ok || d.At.After(t.round.until) {
			return true
		}
		if t.round.after = h.Key; !h.Expired(now) {
			t.add(d)
		}
	}
	return false
}

func (t *roundPage) add(d Due) {
	switch {
	case t.users[d.User]:
	case !t.round.served[d.User]:
		if len(t.round.served) >= maxServed {
			clear(t.round.served)
		}
		t.round.served[d.User], t.users[d.User] = true, true
		t.next = append(t.next, d)
	case len(t.spare) < t.n && !t.spareUsers[d.User]:
		t.spareUsers[d.User] = true
		t.spare = append(t.spare, d)
	}
}

// filled returns the records in next. If next has fewer than n records, filled adds records of
// spare.
func (t *roundPage) filled() []Due {
	for _, d := range t.spare {
		if len(t.next) < t.n && !t.users[d.User] {
			t.users[d.User] = true
			t.next = append(t.next, d)
		}
	}
	return t.next
}

// dueOf converts the head of a record of the queue to a Due without the fields that the content
// contains. dueOf returns false if the record is not a record of the queue.
func dueOf(h storage.Head, tenant string) (Due, bool) {
	at, session, ok := partition.DueOf(h.Key)
	return Due{Tenant: tenant, User: h.Subject(), Session: session, At: at}, ok
}
