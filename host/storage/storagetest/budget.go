package storagetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
)

// RunExact checks that the budgets of a backend are exact. If a budget is exact, concurrent updates
// together cannot exceed a limit. Use RunExact in addition to Run. The function "open" returns a
// new, empty backend. RunExact closes the backend.
func RunExact(t *testing.T, open func(t *testing.T) storage.Backend) {
	b := open(t)
	defer b.Close()
	for round := range 20 {
		if n := fill(t, b, fmt.Sprint("exact", round)); n != fillMax {
			t.Fatalf("the app has %d records; want %d", n, fillMax)
		}
	}
}

// putWithin writes records within a budget.
func putWithin(b storage.Backend, budget storage.Budget, writes ...storage.Write) error {
	on := storage.Footprint{Budget: budget}
	for _, w := range writes {
		on.Keys = append(on.Keys, w.Record.Key)
	}
	return b.Update(context.Background(), on, func([]storage.Record) ([]storage.Write, error) { return writes, nil })
}

func atMost(records, bytes int64) storage.Usage { return storage.Usage{Records: records, Bytes: bytes} }

// budgetOf returns a budget that limits the app "a" and its user ann.
func budgetOf(ofApp, ofUser storage.Usage) storage.Budget {
	return storage.Budget{
		App: storage.Limit{Account: app("a"), Max: ofApp}, User: storage.Limit{Account: storage.UserAccount(app("a"), "ann"), Max: ofUser},
	}
}

// testBudget fills an app and a user up to their limits, and then tries to exceed the limits.
func testBudget(t *testing.T, b storage.Backend) {
	key := func(i int) storage.Key { return app("a", store(fmt.Sprint("s", i)), user("ann")) }
	write := func(i int, content string) storage.Write { return storage.Write{Record: record(key(i), 1, content)} }
	remove := func(i int) storage.Write {
		return storage.Write{Record: storage.Record{Key: key(i)}, Delete: true}
	}
	ann, size := storage.UserAccount(app("a"), "ann"), int64(len(key(0)))
	none, large := storage.Usage{}, atMost(1000, 1<<30)
	put(t, b, record(key(0), 1, "12345"), record(key(1), 1, "12345"), record(app("a", store("shared")), 1, ""))
	of := func(account storage.Key, unit string, held, added, limit int64) *storage.OverBudgetError {
		return &storage.OverBudgetError{Account: account, Unit: unit, Held: held, Added: added, Max: limit}
	}
	for _, c := range []struct {
		name   string
		budget storage.Budget
		writes []storage.Write
		want   *storage.OverBudgetError
	}{
		{"no budget", storage.Budget{}, []storage.Write{write(0, "12345")}, nil},
		{"no limits", budgetOf(none, none), []storage.Write{write(0, "123")}, nil},
		{"as before", storage.Budget{}, []storage.Write{write(0, "12345")}, nil},
		{"a record over the app's limit", budgetOf(atMost(3, 0), none), []storage.Write{write(2, "x")}, of(app("a"), "records", 3, 1, 3)},
		{"at the app's limit", budgetOf(atMost(3, 0), none), []storage.Write{write(2, "x"), remove(1)}, nil},
		{"as at first", storage.Budget{}, []storage.Write{remove(2), write(1, "12345")}, nil},
		{"a record over the user's limit", budgetOf(large, atMost(2, 0)), []storage.Write{write(2, "x")}, of(ann, "records", 2, 1, 2)},
		{"a byte over the user's limit", budgetOf(large, atMost(0, 2*size+10)), []storage.Write{write(0, "123456")}, of(ann, "bytes", 2*size+10, 1, 2*size+10)},
		{"at the user's limit of bytes", budgetOf(large, atMost(0, 2*size+10)), []storage.Write{write(0, "54321")}, nil},
		{"over the limits, but shrinking", budgetOf(large, atMost(1, 1)), []storage.Write{write(0, "1")}, nil},
		{"fewer records, more bytes", budgetOf(large, atMost(1, size)), []storage.Write{remove(0), write(1, "1234567890")}, nil},
		{"a large record", storage.Budget{}, []storage.Write{write(1, strings.Repeat("x", 500))}, nil},
		{"more records, fewer bytes over the limit", budgetOf(large, atMost(10, 1)), []storage.Write{write(1, ""), write(2, "")}, nil},
		{"the app before the user", budgetOf(atMost(1, 0), atMost(1, 0)), []storage.Write{write(0, "x")}, of(app("a"), "records", 3, 1, 1)},
		{"records before bytes", budgetOf(atMost(1, 1), none), []storage.Write{write(0, "x")}, of(app("a"), "records", 3, 1, 1)},
	} {
		before := all(t, b, "")
		err := putWithin(b, c.budget, c.writes...)
		over, rejected := errors.AsType[*storage.OverBudgetError](err)
		if rejected != (c.want != nil) || rejected && *over != *c.want || err != nil && !rejected {
			t.Errorf("%s: Update = %v, %+v; want %+v", c.name, err, over, c.want)
		}
		if rejected {
			same(t, c.name+": the stored records", all(t, b, ""), before)
		}
		checkUsage(t, b, app("a"), ann)
	}
}

// testBudgetNames checks that two users of an app have separate limits, and that a budget limits
// only the accounts that the budget contains.
func testBudgetNames(t *testing.T, b storage.Backend) {
	of := func(who, name string) storage.Write {
		return storage.Write{Record: record(app("a", store(name), user(who)), 1, "x")}
	}
	forAnn, forBob := budgetOf(atMost(3, 0), atMost(1, 0)), budgetOf(atMost(3, 0), atMost(1, 0))
	forBob.User.Account = storage.UserAccount(app("a"), "bob")
	ledger := storage.MakeKey(storage.Part{Tag: storage.System, Value: storage.Ledger}) + app("a", storage.Part{Tag: storage.Item, Value: "r1"})
	shared := forAnn
	shared.Shared = storage.Limit{Account: app("b"), Max: atMost(1, 0)}
	inShared := func(name string) storage.Write {
		return storage.Write{Record: record(app("b", store(name), user("ann")), 1, "x")}
	}
	byTag := storage.Write{Record: withTags(record(app("a", store("t")), 1, "x"), storage.SubjectTag("ann"))}
	for _, c := range []struct {
		name   string
		budget storage.Budget
		write  storage.Write
		full   storage.Key
	}{
		{"ann's first", forAnn, of("ann", "s"), ""},
		{"ann's second", forAnn, of("ann", "t"), forAnn.User.Account},
		{"ann's, by a tag", forAnn, byTag, forAnn.User.Account},
		{"bob's first", forBob, of("bob", "s"), ""},
		{"bob's second", forBob, of("bob", "t"), forBob.User.Account},
		{"bob's, in a budget of ann", forAnn, of("bob", "u"), ""},
		{"beyond the app's limit", forAnn, of("cid", "s"), app("a")},
		{"the ledger's, which has its own account", forAnn, storage.Write{Record: record(ledger, 1, "x")}, ""},
		{"bob's, removed", forAnn, storage.Write{Record: storage.Record{Key: of("bob", "s").Record.Key}, Delete: true}, ""},
		{"in place of another", forAnn, of("cid", "s"), ""},
		{"what apps share", shared, inShared("s"), ""},
		{"beyond the limit of what apps share", shared, inShared("t"), app("b")},
		{"another account, without a limit", forAnn, inShared("t"), ""},
	} {
		err := putWithin(b, c.budget, c.write)
		over, rejected := errors.AsType[*storage.OverBudgetError](err)
		if err != nil && !rejected || rejected != (c.full != "") || rejected && over.Account != c.full {
			t.Errorf("%s: Update = %v, %+v; want an OverBudgetError of the account %q", c.name, err, over, c.full)
		}
	}
	checkUsage(t, b, app("a"), app("b"), forAnn.User.Account, forBob.User.Account)
}

const (
	fillWriters = 12
	fillMax     = 4
)

// fill lets many writers fill an app concurrently. The function returns the resulting number of
// records.
func fill(t *testing.T, b storage.Backend, name string) int64 {
	t.Helper()
	budget := storage.Budget{App: storage.Limit{Account: app(name), Max: storage.Usage{Records: fillMax}}}
	var fit atomic.Int64
	together(fillWriters, func(i int) {
		err := putWithin(b, budget, storage.Write{Record: record(app(name, store(fmt.Sprint("s", i))), 1, "x")})
		if _, rejected := errors.AsType[*storage.OverBudgetError](err); err != nil && !rejected {
			t.Error(err)
		} else if err == nil {
			fit.Add(1)
		}
	})
	checkUsage(t, b, app(name))
	held := usage(t, b, app(name))[0]
	if held.Records != fit.Load() || int(held.Records) != len(all(t, b, app(name))) {
		t.Errorf("%d updates succeeded, but the usage is %d records", fit.Load(), held.Records)
	}
	return held.Records
}

// testBudgetRace fills an app with concurrent writers. The app must reach its limit, and the next
// update must be rejected.
func testBudgetRace(t *testing.T, b storage.Backend) {
	for round := range 4 {
		name := fmt.Sprint("a", round)
		if n := fill(t, b, name); n < fillMax || n > fillWriters {
			t.Errorf("the app has %d records; want at least %d", n, fillMax)
		}
		budget := storage.Budget{App: storage.Limit{Account: app(name), Max: storage.Usage{Records: fillMax}}}
		err := putWithin(b, budget, storage.Write{Record: record(app(name, store("late")), 1, "x")})
		if _, rejected := errors.AsType[*storage.OverBudgetError](err); !rejected {
			t.Errorf("an update that exceeds the limit of the app = %v; want an OverBudgetError", err)
		}
	}
}

// testBudgetFaults makes updates fail. A failed update must count toward the usage if and only if
// the update was applied.
func testBudgetFaults(t *testing.T, b storage.Backend) {
	for _, how := range Failures {
		name := how.String()
		budget := storage.Budget{App: storage.Limit{Account: app(name), Max: storage.Usage{Records: 2}}}
		key := func(i int) storage.Key { return app(name, store(fmt.Sprint("s", i))) }
		f := NewFaulty(b)
		f.Fail(OpUpdate, 1, how)
		if err := putWithin(f, budget, storage.Write{Record: record(key(0), 1, "x")}); !errors.Is(err, ErrInjected) {
			t.Fatalf("%s: Update = %v", how, err)
		}
		f.Revive()
		applied := how == LostReply || how == DiesAfter
		if held := usage(t, f, app(name))[0]; (held.Records == 1) != applied || !applied && held != (storage.Usage{}) {
			t.Errorf("%s: the usage is %+v, which does not match the result of the update (applied: %v)", how, held, applied)
		}
		if !applied {
			must(t, putWithin(f, budget, storage.Write{Record: record(key(0), 1, "x")}))
		}
		must(t, putWithin(f, budget, storage.Write{Record: record(key(1), 1, "x")}))
		rejected := errors.New("rejected")
		err := b.Update(context.Background(), storage.Footprint{Keys: []storage.Key{key(2)}, Budget: budget}, func([]storage.Record) ([]storage.Write, error) {
			return []storage.Write{{Record: record(key(2), 1, "x")}}, rejected
		})
		if err != rejected {
			t.Errorf("Update over the budget with a failing function = %v; want the function's error", err)
		}
		checkUsage(t, b, app(name))
	}
}
