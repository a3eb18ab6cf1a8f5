package storage

import (
	"context"
	"fmt"
	"slices"
)

// Limit is the maximum usage of an account. If a field of Max is 0, this field sets no limit.
type Limit struct {
	Account Key
	Max     Usage
}

// Budget contains limits on the usage of accounts after an Update. Budget can limit an app in a
// tenant, one of the app's users, and the records that the apps of the tenant share. Other accounts
// have no limit. The zero Budget has no limits.
type Budget struct{ App, User, Shared Limit }

// OverBudgetError is the error of an Update that would make an account exceed its limit.
type OverBudgetError struct {
	// Account is the account that would exceed its limit.
	Account Key
	// Unit is the unit of the fields Held, Added and Max: "records" or "bytes". Held is the usage
	// of the account before the update, Added is the growth that the update would cause, and Max is
	// the limit.
	Unit             string
	Held, Added, Max int64
}

// Error describes the limit. Error omits the account, because an account can contain a user's id.
func (e *OverBudgetError) Error() string {
	return fmt.Sprintf("the budget is exceeded: the account has %d of at most %d %s; the update adds %d", e.Held, e.Max, e.Unit, e.Added)
}

// Accounts returns the accounts that the budget limits.
func (b Budget) Accounts() []Key {
	named := []Key{b.App.Account, b.User.Account, b.Shared.Account}
	return slices.DeleteFunc(named, func(k Key) bool { return k == "" })
}

// Check returns an *OverBudgetError if growth would make an account exceed its limit. The function
// "held" returns the usage of an account before the growth. Check calls "held" only for accounts
// that grow, and returns an error of "held" unchanged. Updates that do not make an account grow are
// always allowed.
func (b Budget) Check(growth *Growth, held func(account Key) (Usage, error)) error {
	for _, l := range [...]Limit{b.App, b.User, b.Shared} {
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

// HeldBy returns a function that reads the usage of an account from a backend. The returned
// function can be passed to Budget.Check.
func HeldBy(ctx context.Context, b Backend) func(account Key) (Usage, error) {
	return func(account Key) (Usage, error) {
		held, err := b.Usage(ctx, account)
		if err != nil {
			return Usage{}, err
		}
		return held[0], nil
	}
}
