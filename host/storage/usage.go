package storage

import "strings"

// Usage contains the number and the total size of the records of an account; see Record.Accounts.
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

// grows reports whether the number of records or the number of bytes in u is positive.
func (u Usage) grows() bool { return u.Records > 0 || u.Bytes > 0 }

// SizeOf returns the number of bytes that a record adds to the usage of its accounts.
func SizeOf(r Record) int64 { return int64(len(r.Key) + len(r.Content)) }

// Accounts returns the accounts whose usage includes a record. The first account is the account of
// the record's tenant and app. If the record has a user, the second account is the user's account
// in the app. The record's key usually contains the user of the record. If the key contains no
// user, the record's subject tag contains the user.
//
// The name of an app's account is a key that consists of the tenant and the app. The name of a
// user's account is a key that consists of the tenant, the app and the user. Ledger entries and
// metering records count toward separate accounts, whose names begin with a System part.
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

// Subject returns the user in the subject tag of the record, or "" if the record has no subject
// tag.
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

// Ledger is the System part in the keys of ledger entries. Ledger entries count toward a separate
// account.
const Ledger = "ledger"

// Metering is the System part in the keys of metering records. Metering records count toward a
// separate account.
const Metering = "metering"

var (
	ledgerPrefix   = MakeKey(Part{System, Ledger})
	meteringPrefix = MakeKey(Part{System, Metering})
)

const subjectPrefix = "user/"

// SubjectTag returns the tag that assigns a record to a user. Records need the tag if their key
// does not contain the user.
func SubjectTag(user string) string { return subjectPrefix + user }
