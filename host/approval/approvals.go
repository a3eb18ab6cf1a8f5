package approval

import (
	"context"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// The number of paused runs is limited by these maximum numbers. If several processes share a
// database, they can together exceed these numbers by a few runs.
const (
	MaxOfUser = 100
	MaxOfApp  = 1000
	// MaxWithoutUser applies to all callers without a user together, so that they do not use up the
	// maximum number of the app.
	MaxWithoutUser = 500
)

// MaxPage is the maximum number of requests that a page of List contains.
const MaxPage = 100

// Approvals manages an app's requests for approval. The requests can belong to any tenant. An
// Approvals is safe for concurrent use.
type Approvals struct{ db *records.DB }

// New returns the Approvals of an app. The argument db contains the records of this app.
func New(db *records.DB) *Approvals { return &Approvals{db} }

// Key returns the key under which a request is stored.
func (a *Approvals) Key(c partition.Caller, token string) storage.Key {
	return a.db.App.System(partition.Approval, c, storage.Part{Tag: storage.Item, Value: token})
}

// RunKey returns the key under which the paused run of a request is stored.
func (a *Approvals) RunKey(c partition.Caller, token string) storage.Key {
	return a.db.App.System(partition.PausedRun, c, storage.Part{Tag: storage.Item, Value: token})
}

// Get returns a request. The request must belong to the caller's tenant. If no such request
// exists, the error is not_found.
func (a *Approvals) Get(ctx context.Context, c partition.Caller, token string) (Approval, error) {
	s, _, err := a.get(ctx, c, token)
	return s.Approval, err
}

func (a *Approvals) get(ctx context.Context, c partition.Caller, token string) (s stored, r storage.Record, err error) {
	if err := partition.CheckID("approval", token); err != nil || token == "" {
		return s, r, Unknown()
	}
	if r, err = a.db.Get(ctx, a.Key(c, token)); err != nil {
		return s, r, a.db.Fault("read an approval", err)
	}
	if !r.Exists() || r.Expired(a.db.Now()) {
		return s, r, Unknown()
	}
	s, err = decode(r, a.db.Now())
	return s, r, a.db.Fault("read an approval", err)
}

// Unknown returns the fault for a token whose request the caller is not allowed to see. The fault
// is the same whether the token does not exist or belongs to another user.
func Unknown() error {
	return abi.Faultf(abi.NotFound, "no approval has this token").WithHint("list the approvals to get their tokens")
}

// Run returns the paused run of a request. The result is its stored bytes. If the request has no
// paused run, Run returns nil.
func (a *Approvals) Run(ctx context.Context, c partition.Caller, token string) ([]byte, error) {
	r, err := a.db.Get(ctx, a.RunKey(c, token))
	if err != nil || !r.Exists() {
		return nil, a.db.Fault("read a paused run", err)
	}
	return r.Content, nil
}

// List returns requests of the caller's tenant. The oldest request is first. The list begins with
// the request that follows the token "after". The second result is a token, after which the next
// page begins. If no next page exists, it is "". If the caller has a user, List returns only the
// requests of this user. A page has at most MaxPage requests. A page with fewer requests is not
// necessarily the last page. If the argument "all" is false, List omits requests that have already
// been decided.
func (a *Approvals) List(ctx context.Context, c partition.Caller, all bool, after string) (found []Approval, next string, err error) {
	prefix, from := a.db.App.System(partition.Approval, c), storage.Key("")
	if after != "" {
		if err := partition.CheckID("approval", after); err != nil {
			return nil, "", err
		}
		from = a.Key(c, after)
	}
	part, last, err := a.db.ScanPart(ctx, prefix, from)
	if err != nil {
		return nil, "", a.db.Fault("list approvals", err)
	}
	for _, r := range part {
		if len(found) == MaxPage {
			return found, next, nil
		}
		s, err := decode(r, a.db.Now())
		if err != nil {
			return nil, "", a.db.Fault("list approvals", err)
		}
		next = s.Token
		if !r.Expired(a.db.Now()) && (c.User == "" || s.User == c.User) && (all || s.State == Pending) {
			found = append(found, s.Approval)
		}
	}
	if last {
		next = ""
	}
	return found, next, nil
}

// CheckRoom returns a fault if a maximum number of paused runs has been reached. One maximum is for
// the app, and another maximum is for the user of the caller. If the caller has no user, the other
// maximum is for all callers without a user.
func (a *Approvals) CheckRoom(ctx context.Context, c partition.Caller) error {
	heads, err := a.db.Backend.Heads(ctx, a.db.App.System(partition.PausedRun, c), "", MaxOfApp+1)
	if err != nil {
		return a.db.Fault("count the paused runs", err)
	}
	holder, limit := "the user", MaxOfUser
	if c.User == "" {
		holder, limit = "all callers without a user", MaxWithoutUser
	}
	total, own := 0, 0
	for _, h := range heads {
		if !a.waits(h) {
			continue
		}
		total++
		if userOf(h) == c.User {
			own++
		}
	}
	if total >= MaxOfApp {
		holder, limit, own = "the app", MaxOfApp, total
	}
	if own < limit {
		return nil
	}
	return abi.Faultf(abi.QuotaExceeded, "%s has reached the limit of %d runs that wait for an approval", holder, limit).
		WithHint("approve or deny some of these runs first")
}

// userOf returns the user of a paused run. If the run has no user, userOf returns "". A run without
// a user has a data subject that begins with a zero byte. This data subject is the session or the
// workflow of the run.
func userOf(h storage.Head) string {
	for _, tag := range h.Tags {
		if user, ok := strings.CutPrefix(tag, storage.SubjectTag("")); ok && !strings.HasPrefix(user, partition.AnonymousSubject("")) {
			return user
		}
	}
	return ""
}

// waits reports whether a paused run still waits: its request has not expired.
func (a *Approvals) waits(h storage.Head) bool { return a.db.Now().Before(h.Expires.Add(-kept)) }
