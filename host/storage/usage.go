package storage

import (
	"encoding/json"
	"strings"
)

// Usage is the content of a usage record; see UsageKey.
type Usage struct {
	// Records counts the records of stores.
	Records int64 `json:"records"`
	// Bytes is the size of all records, the host's own included; see SizeOf.
	Bytes int64 `json:"bytes"`
}

// UsageOf returns what one record adds to the usage of its groups.
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

// SizeOf returns what a record counts for in Usage.
func SizeOf(r Record) int64 { return int64(len(r.Key) + len(r.Content)) }

// Groups returns the groups that a record counts for: that of its tenant and app, and that of its user in
// there if it has one. The user is the one in the key, or else the one of the record's subject tag.
func (r Record) Groups() []Key {
	app, user, ok := r.Key.groups()
	if !ok {
		return nil
	}
	if r.Key.HasPrefix(ledgerPrefix) {
		return []Key{ledgerPrefix + app}
	}
	if user != "" {
		return []Key{app, user}
	}
	for _, tag := range r.Ends {
		if id, ok := strings.CutPrefix(tag, subjectPrefix); ok {
			return []Key{app, UserGroup(app, id)}
		}
	}
	return []Key{app}
}

// UserGroup returns the group of a user within that of an app.
func UserGroup(app Key, user string) Key { return app.With(Part{User, user}) }

// Ledger is the System part of the keys of ledger entries, which count for a group of their own: the prefix of
// the app's entries.
const Ledger = "ledger"

var ledgerPrefix = MakeKey(Part{System, Ledger})

const subjectPrefix = "user/"

// SubjectTag returns the tag that a record bears in Ends if it belongs to a user whom its key does not name.
func SubjectTag(user string) string { return subjectPrefix + user }

// UsageKey returns the key of the record in which a backend itself keeps the usage of a group, see
// [Record.Groups]: content {"records":n,"bytes":n}. It can be read by Get and among the keys of an Update, is never written from
// outside, and is not found by Scan. A group that holds nothing has no usage record. Its revision is always
// 1: compare contents instead.
func UsageKey(group Key) Key {
	return usagePrefix + group
}

var usagePrefix = MakeKey(Part{System, "usage"})

// UsageGroup returns the group that a usage key is about, and false for any other key.
func UsageGroup(k Key) (Key, bool) {
	group, ok := strings.CutPrefix(string(k), string(usagePrefix))
	return Key(group), ok
}

// UsageRecord makes the usage record of a group: what a backend answers for its UsageKey.
func UsageRecord(group Key, u Usage) Record {
	if u == (Usage{}) {
		return Record{}
	}
	content, err := json.Marshal(u)
	if err != nil {
		panic(err) // two integers always encode
	}
	return Record{Key: UsageKey(group), Content: content, Revision: 1}
}

// DecodeUsage reads the content of a usage record; nothing counts as zero.
func DecodeUsage(r Record) (Usage, error) {
	var u Usage
	if len(r.Content) == 0 {
		return u, nil
	}
	err := json.Unmarshal(r.Content, &u)
	return u, err
}
