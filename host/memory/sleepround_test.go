package memory_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
)

// sayIn adds one message to each of n sessions of a user.
func (a *app) sayIn(n int, user string) {
	a.t.Helper()
	for i := range n {
		a.say(partition.Caller{Tenant: "acme", User: user, Session: fmt.Sprintf("%s-%d", user, i)}, "x")
	}
}

// turnsOf calls Next and returns the users of the records. turnsOf checks that no user appears
// twice.
func (a *app) turnsOf(r *memory.Round) map[string]bool {
	a.t.Helper()
	next, err := memory.NewSleepQueue(a.Service).Next(context.Background(), "acme", r, 8)
	if err != nil {
		a.t.Fatal(err)
	}
	users := map[string]bool{}
	for _, d := range next {
		users[d.User] = true
	}
	if len(users) != len(next) {
		a.t.Errorf("%d records of %d users; want one for each", len(next), len(users))
	}
	return users
}

// TestRoundOfFloodingUser checks that the first call of Next returns records of two users, even if
// the first read of this call finds only records of one of them.
func TestRoundOfFloodingUser(t *testing.T) {
	a := withTranscripts(t)
	a.sayIn(600, "ann")
	a.clock.Advance(1000)
	a.sayIn(1, "bob")
	a.clock.Advance(settleAfter)
	if users := a.turnsOf(&memory.Round{}); !users["ann"] || !users["bob"] {
		t.Errorf("the users are %v; want ann and bob", users)
	}
}

// TestRoundContinues stores many records of one user before the record of another user. One call of
// Next cannot examine all of these records, so a later call returns the other user. The earlier
// calls return records of the first user.
func TestRoundContinues(t *testing.T) {
	a := withTranscripts(t)
	a.sayIn(9000, "ann")
	a.clock.Advance(1000)
	a.sayIn(1, "bob")
	a.clock.Advance(settleAfter)
	var r memory.Round
	for call := 1; ; call++ {
		users := a.turnsOf(&r)
		if !users["ann"] {
			t.Errorf("call %d: the users are %v; want ann", call, users)
		}
		if users["bob"] {
			break
		}
		if call == 3 {
			t.Fatal("bob has no turn in 3 calls")
		}
	}
}

// TestRoundOfManyUsers checks that every user gets one run before any user gets a second run. The
// order must be correct even if a few users have enough records at the head of the queue for every
// call.
func TestRoundOfManyUsers(t *testing.T) {
	a := withTranscripts(t)
	for i := range 10 {
		a.sayIn(20, fmt.Sprint("flood", i))
	}
	a.clock.Advance(1000)
	a.sayIn(1, "bob")
	a.clock.Advance(settleAfter)
	var r memory.Round
	a.turnsOf(&r)
	if users := a.turnsOf(&r); !users["bob"] || !users["flood9"] || len(users) != 8 {
		t.Errorf("the users of the second call are %v; want bob, flood8 and flood9, and others in the rest", users)
	}
	if users := a.turnsOf(&r); len(users) != 8 {
		t.Errorf("the users of the third call are %v; want 8", users)
	}
}
