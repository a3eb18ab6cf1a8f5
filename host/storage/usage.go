package storage

import (
	"fmt"
	"strconv"
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
	var all []Key
	r.eachGroup(func(group Key) { all = append(all, group) })
	return all
}

// eachGroup calls do with each group that the record counts for.
func (r Record) eachGroup(do func(group Key)) {
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
			do(UserGroup(app, id))
			return
		}
	}
}

// UserGroup returns the group of a user within that of an app.
func UserGroup(app Key, user string) Key { return app.With(Part{User, user}) }

// Ledger is the System part of the keys of ledger entries, which count for a group of their own: the prefix of
// the app's entries.
const Ledger = "ledger"

// Metering is the System part of the keys of records of what runs used, which count for a group of their own as well.
const Metering = "metering"

var (
	ledgerPrefix   = MakeKey(Part{System, Ledger})
	meteringPrefix = MakeKey(Part{System, Metering})
)

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
	return Record{Key: UsageKey(group), Content: u.encode(), Revision: 1}
}

// encode returns the content of a usage record. Each commit reads and writes some: encoding/json would be most of
// what they cost.
func (u Usage) encode() []byte {
	b := make([]byte, 0, len(`{"records":,"bytes":}`)+2*20)
	b = strconv.AppendInt(append(b, `{"records":`...), u.Records, 10)
	b = strconv.AppendInt(append(b, `,"bytes":`...), u.Bytes, 10)
	return append(b, '}')
}

// DecodeUsage reads the content of a usage record; nothing counts as zero.
func DecodeUsage(r Record) (Usage, error) {
	var u Usage
	if len(r.Content) == 0 {
		return u, nil
	}
	records, rest, ok := cutInt(string(r.Content), `{"records":`)
	bytes, rest, also := cutInt(rest, `,"bytes":`)
	if !ok || !also || rest != "}" {
		return u, fmt.Errorf("usage record: %w", ErrCorrupt)
	}
	return Usage{Records: records, Bytes: bytes}, nil
}

// cutInt takes a prefix and a number off text.
func cutInt(text, prefix string) (n int64, rest string, ok bool) {
	rest, ok = strings.CutPrefix(text, prefix)
	end := 0
	for end < len(rest) && (rest[end] == '-' || '0' <= rest[end] && rest[end] <= '9') {
		end++
	}
	n, err := strconv.ParseInt(rest[:end], 10, 64)
	return n, rest[end:], ok && err == nil
}
