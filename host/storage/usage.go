package storage

import "strings"

// Usage is what an account holds.
type Usage struct {
	// Records counts the records of stores.
	Records int64
	// Bytes is the size of all records, the host's own included; see SizeOf.
	Bytes int64
}

// UsageOf returns what one record adds to the usage of its accounts.
func UsageOf(r Head) Usage {
	u := Usage{Bytes: r.Size()}
	if r.Key != "" && Tag(r.Key[0]) != System {
		u.Records = 1
	}
	return u
}

// Negative returns the usage that takes u away.
func (u Usage) Negative() Usage { return Usage{Records: -u.Records, Bytes: -u.Bytes} }

// Plus returns the sum of both.
func (u Usage) Plus(other Usage) Usage {
	return Usage{Records: u.Records + other.Records, Bytes: u.Bytes + other.Bytes}
}

// grows reports whether either number is above zero.
func (u Usage) grows() bool { return u.Records > 0 || u.Bytes > 0 }

// SizeOf returns what a record counts for in Usage.
func SizeOf(r Record) int64 { return int64(len(r.Key) + len(r.Content)) }

// Accounts returns the accounts that a record counts for: that of its tenant and app, and that of its user in the app if
// it has one. An account is named by the parts of a key: tenant and app, and for a user's the user. The user is the one in
// the key, or else the one of the record's subject tag. Entries of the ledger and records of metering count for accounts of
// their own, whose names begin with a System part.
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

// UserAccount returns the account of a user, given that of the app.
func UserAccount(app Key, user string) Key { return app.With(Part{User, user}) }

// Ledger is the System part of the keys of ledger entries, which count for an account of their own: the prefix of
// the app's entries.
const Ledger = "ledger"

// Metering is the System part of the keys of records of what runs used, which count for an account of their own as well.
const Metering = "metering"

var (
	ledgerPrefix   = MakeKey(Part{System, Ledger})
	meteringPrefix = MakeKey(Part{System, Metering})
)

const subjectPrefix = "user/"

// SubjectTag returns the tag that a record bears in Ends if it belongs to a user whom its key does not name.
func SubjectTag(user string) string { return subjectPrefix + user }
