package storage

import "strings"

// Usage is the number and size of the records of an account.
type Usage struct {
	// Records counts the records of stores.
	Records int64
	// Bytes is the size of all records, the host's own included; see SizeOf.
	Bytes int64
}

// UsageOf returns the usage of one record.
func UsageOf(r Head) Usage {
	u := Usage{Bytes: r.Size()}
	if r.Key != "" && Tag(r.Key[0]) != System {
		u.Records = 1
	}
	return u
}

// Negative returns the usage that compensates for u in Plus.
func (u Usage) Negative() Usage { return Usage{Records: -u.Records, Bytes: -u.Bytes} }

// Plus returns the sum of both.
func (u Usage) Plus(other Usage) Usage {
	return Usage{Records: u.Records + other.Records, Bytes: u.Bytes + other.Bytes}
}

// grows reports whether one of the numbers is positive.
func (u Usage) grows() bool { return u.Records > 0 || u.Bytes > 0 }

// SizeOf returns the number of bytes that a record counts for in Usage.
func SizeOf(r Record) int64 { return int64(len(r.Key) + len(r.Content)) }

// Accounts returns the accounts for which a record counts: the account of its tenant and app and,
// if it has a user, the account of the user in the app. The name of an account is a key of tenant,
// app and, for a user's account, user. The user is the one in the record's key, or else in its
// subject tag. Ledger entries and metering records count for separate accounts, whose names begin
// with a System part.
func (r Record) Accounts() []Key {
	var all []Key
	r.eachAccount(func(account Key) { all = append(all, account) })
	return all
}

// eachAccount calls do with each account that the record counts for.
func (r Record) eachAccount(do func(account Key)) {
	app, user, ok := r.Key.groups()
	if !ok {
		return
	}
	for _, own := range []Key{ledgerPrefix, meteringPrefix} {
		if r.Key.HasPrefix(own) {
			do(own + app)
			return
		}
	}
	do(app)
	if user != "" {
		do(user)
		return
	}
	for _, tag := range r.Tags {
		if id, ok := strings.CutPrefix(tag, subjectPrefix); ok {
			do(UserAccount(app, id))
			return
		}
	}
}

// UserAccount returns the account of a user in an app, whose account is app.
func UserAccount(app Key, user string) Key { return app.With(Part{User, user}) }

// Ledger is the System part of the keys of ledger entries, which count for an account of their own.
const Ledger = "ledger"

// Metering is the System part of the keys of metering records, which also count for an account of
// their own.
const Metering = "metering"

var (
	ledgerPrefix   = MakeKey(Part{System, Ledger})
	meteringPrefix = MakeKey(Part{System, Metering})
)

const subjectPrefix = "user/"

// SubjectTag returns the tag of records that belong to a user and do not have the user in their
// key.
func SubjectTag(user string) string { return subjectPrefix + user }
