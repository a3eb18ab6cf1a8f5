package storage

import "strings"

// Usage is the number and total size of the records of an account; see Record.Accounts.
type Usage struct {
	// Records is the number of records in stores. Records does not include the host's own records.
	Records int64
	// Bytes is the total size of all records, including the host's own records; see SizeOf.
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

// Negative returns -u.
func (u Usage) Negative() Usage { return Usage{Records: -u.Records, Bytes: -u.Bytes} }

// Plus returns the sum of u and other.
func (u Usage) Plus(other Usage) Usage {
	return Usage{Records: u.Records + other.Records, Bytes: u.Bytes + other.Bytes}
}

// grows reports whether at least one of the numbers is positive.
func (u Usage) grows() bool { return u.Records > 0 || u.Bytes > 0 }

// SizeOf returns the number of bytes by which the record increases the usage of its accounts.
func SizeOf(r Record) int64 { return int64(len(r.Key) + len(r.Content)) }

// Accounts returns the accounts whose usage includes a record. The first account is the account of
// the record's tenant and app. If the record has a user, the second account is the account of that
// user in the app. The user of a record is the user in the record's key or, if the key contains no
// user, the user in the record's subject tag.
//
// The name of an app's account is a key that contains the tenant and the app. The name of a user's
// account is a key that contains the tenant, the app and the user. Ledger entries and metering
// records count toward separate accounts, whose names begin with a System part.
func (r Record) Accounts() []Key {
	var all []Key
	r.eachAccount(func(account Key) { all = append(all, account) })
	return all
}

// eachAccount calls the function "do" with each account whose usage includes the record.
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
	if id := r.Subject(); id != "" {
		do(UserAccount(app, id))
	}
}

// Subject returns the user in the subject tag of the record, or "".
func (r Record) Subject() string {
	for _, tag := range r.Tags {
		if id, ok := strings.CutPrefix(tag, subjectPrefix); ok {
			return id
		}
	}
	return ""
}

// UserAccount returns the account of a user in an app. The argument "app" is the account of the
// app.
func UserAccount(app Key, user string) Key { return app.With(Part{User, user}) }

// Ledger is the System part of the keys of ledger entries, which count toward a separate account.
const Ledger = "ledger"

// Metering is the System part of the keys of metering records, which count toward a separate
// account.
const Metering = "metering"

var (
	ledgerPrefix   = MakeKey(Part{System, Ledger})
	meteringPrefix = MakeKey(Part{System, Metering})
)

const subjectPrefix = "user/"

// SubjectTag returns the tag of records that belong to a user but do not contain the user in their
// key.
func SubjectTag(user string) string { return subjectPrefix + user }
