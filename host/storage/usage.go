package storage

import (
	"encoding/json"
	"strings"
)

// Usage is the content of a usage record; see UsageKey.
type Usage struct {
	Records int64 `json:"records"`
	Bytes   int64 `json:"bytes"`
}

// Plus returns the sum of both.
func (u Usage) Plus(other Usage) Usage {
	return Usage{Records: u.Records + other.Records, Bytes: u.Bytes + other.Bytes}
}

// SizeOf returns what a record counts for in Usage.
func SizeOf(r Record) int64 { return int64(len(r.Key) + len(r.Content)) }

// UsageKey returns the key of the record in which a backend itself keeps how many records lie under a
// group, and how many bytes their keys and contents have: content {"records":n,"bytes":n}. It can be read
// by Get and among the keys of an Update, is never written from outside, and is not found by Scan. A group
// that holds nothing has no usage record. Its revision is always 1: compare contents instead.
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
	if u.Records == 0 {
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
