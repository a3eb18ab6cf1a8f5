package storage

import (
	"iter"
	"slices"
)

// Growth is the sum of changes of usage, by account. Numbers are negative for accounts that shrink.
// The zero Growth is empty.
type Growth struct {
	// few contains the first accounts, so that an update that changes only a few accounts allocates
	// no map.
	few  [4]accountUsage
	n    int
	more map[Key]Usage
}

type accountUsage struct {
	account Key
	Usage
}

// GrowthOf returns the total growth that the changes cause.
func GrowthOf(changes []Change) (g Growth) {
	for _, c := range changes {
		g.AddChange(c)
	}
	return g
}

// AddChange adds a change to the accounts of the old record and of the new record.
func (g *Growth) AddChange(c Change) {
	if c.Old.Exists() && !c.Delete && slices.Equal(c.Old.Tags, c.Record.Tags) { // the old and the new record count toward the same accounts
		u := UsageOf(HeadOf(c.Record)).Plus(UsageOf(c.Old).Negative())
		c.Record.eachAccount(func(account Key) { g.Add(account, u) })
		return
	}
	if c.Old.Exists() {
		u := UsageOf(c.Old).Negative()
		c.Old.eachAccount(func(account Key) { g.Add(account, u) })
	}
	if !c.Delete {
		u := UsageOf(HeadOf(c.Record))
		c.Record.eachAccount(func(account Key) { g.Add(account, u) })
	}
}

// Add adds usage to an account.
func (g *Growth) Add(account Key, u Usage) {
	for i := range g.few[:g.n] {
		if g.few[i].account == account {
			g.few[i].Usage = g.few[i].Plus(u)
			return
		}
	}
	if g.n < len(g.few) {
		g.few[g.n] = accountUsage{account, u}
		g.n++
		return
	}
	if g.more == nil {
		g.more = make(map[Key]Usage)
	}
	g.more[account] = g.more[account].Plus(u)
}

// Of returns the growth of an account.
func (g *Growth) Of(account Key) Usage {
	for i := range g.few[:g.n] {
		if g.few[i].account == account {
			return g.few[i].Usage
		}
	}
	return g.more[account]
}

// All yields the accounts whose usage changes, in no particular order.
func (g *Growth) All() iter.Seq2[Key, Usage] {
	return func(yield func(Key, Usage) bool) {
		for _, a := range g.few[:g.n] {
			if a.Usage != (Usage{}) && !yield(a.account, a.Usage) {
				return
			}
		}
		for account, u := range g.more {
			if u != (Usage{}) && !yield(account, u) {
				return
			}
		}
	}
}

// AppBytes returns the growth in bytes of all app accounts. The account of an app includes the
// usage of all users of the app.
func (g *Growth) AppBytes() (added int64) {
	for account, u := range g.All() {
		if app, _ := account.Group(); app == account {
			added += u.Bytes
		}
	}
	return added
}
