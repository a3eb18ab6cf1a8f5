package storage

import (
	"context"
	"fmt"
	"slices"
)

// Limit bounds what an account may hold. A number of zero in Max is no bound.
type Limit struct {
	Account Key
	Max     Usage
}

// Budget bounds what an app in a tenant, and one of its users, may hold after an Update. It bounds no account that it does not
// name; the zero Budget bounds nothing.
type Budget struct{ App, User Limit }

// OverBudgetError is the error of an Update that would make an account hold more than its Budget allows.
type OverBudgetError struct {
	// Account is the account that is full.
	Account Key
	// Unit is "records" or "bytes", in which Held is what the account holds, Added what the update adds, and Max what the
	// account may hold.
	Unit             string
	Held, Added, Max int64
}

// Error names the limit. It does not name the account, which has a user's id.
func (e *OverBudgetError) Error() string {
	return fmt.Sprintf("the budget is exceeded: the account holds %d of %d %s, and the update adds %d", e.Held, e.Max, e.Unit, e.Added)
}

// Accounts returns the accounts that the budget names.
func (b Budget) Accounts() []Key {
	named := []Key{b.App.Account, b.User.Account}
	return slices.DeleteFunc(named, func(k Key) bool { return k == "" })
}

// Check returns an *OverBudgetError if an account would hold too much, given what it holds before the growth. What makes an
// account smaller, or leaves it as it is, is allowed in any case. It looks up only accounts that grow; an error of held comes
// back as it is.
func (b Budget) Check(growth *Growth, held func(account Key) (Usage, error)) error {
	for _, l := range [...]Limit{b.App, b.User} {
		if err := l.check(growth.Of(l.Account), held); err != nil {
			return err
		}
	}
	return nil
}

func (l Limit) check(added Usage, held func(account Key) (Usage, error)) error {
	if !added.grows() || l.Max == (Usage{}) {
		return nil
	}
	before, err := held(l.Account)
	if err != nil {
		return err
	}
	for _, u := range [...]OverBudgetError{
		{Unit: "records", Held: before.Records, Added: added.Records, Max: l.Max.Records},
		{Unit: "bytes", Held: before.Bytes, Added: added.Bytes, Max: l.Max.Bytes},
	} {
		if u.Max > 0 && u.Added > 0 && u.Held+u.Added > u.Max {
			u.Account = l.Account
			return &u
		}
	}
	return nil
}

// HeldBy returns a function that looks up what an account of a backend holds, for Check.
func HeldBy(ctx context.Context, b Backend) func(account Key) (Usage, error) {
	return func(account Key) (Usage, error) {
		held, err := b.Usage(ctx, account)
		if err != nil {
			return Usage{}, err
		}
		return held[0], nil
	}
}
