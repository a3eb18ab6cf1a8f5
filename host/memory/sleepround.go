package memory

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

const (
	// maxRoundHeads limits, approximately, how many records one call of Next examines.
	maxRoundHeads = 4096
	// maxServed is the maximum number of users that a Round remembers.
	maxServed = 10_000
)

// A Round is a position in the list of the due records of a tenant. A round includes the records
// that are due when the round begins. In each round, every user gets one run before any user gets a
// second run. Therefore a user with many conversations does not delay other users. The zero Round
// starts at the first record of the tenant. A Round is not safe for concurrent use.
type Round struct {
	until  time.Time // zero between two rounds
	after  storage.Key
	served map[string]bool // the users that have already had a run in the round
}

// Ended reports whether the next call of Next begins a new round.
func (r *Round) Ended() bool { return r.until.IsZero() }

// Next returns up to n due records of a tenant and advances the round. The records belong to
// different users. If too few users without a run are left in the round, Next also returns records
// of users that have already had a run. Next reads the heads of a limited number of records. The
// next call continues after the last record that was read.
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
	// spare contains records of users that have already had a run in the round.
	spare      []Due
	spareUsers map[string]bool
}

// take examines heads until it has found enough records. The result reports whether the round has
// ended.
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

// filled returns the records in the field "next". If the field "next" has fewer than n records, the
// method adds records of the field "spare".
func (t *roundPage) filled() []Due {
	for _, d := range t.spare {
		if len(t.next) < t.n && !t.users[d.User] {
			t.users[d.User] = true
			t.next = append(t.next, d)
		}
	}
	return t.next
}

// dueOf converts the head of a record into a Due. dueOf does not set the fields whose values are in
// the content of the record. If the record does not belong to the queue, dueOf returns false.
func dueOf(h storage.Head, tenant string) (Due, bool) {
	at, session, ok := partition.DueOf(h.Key)
	return Due{Tenant: tenant, User: h.Subject(), Session: session, At: at}, ok
}
