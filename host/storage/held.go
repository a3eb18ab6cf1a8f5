package storage

import (
	"errors"
	"slices"
)

// Version identifies the state of one record. If the revision of a Version is 0, the record does
// not exist.
type Version struct {
	Key        Key
	Revision   int64
	Generation string
}

// Version returns the version of r. The version of the zero Record has an empty key; use VersionOf
// to get a version with a key.
func (r Record) Version() Version {
	return Version{Key: r.Key, Revision: r.Revision, Generation: r.Generation}
}

// VersionOf returns the version of the record that was read under the key k. The argument "found"
// may be the zero Record.
func VersionOf(k Key, found Record) Version {
	v := found.Version()
	v.Key = k
	return v
}

// Range is an interval of keys and the versions of the records that were found in the interval. The
// interval contains the keys under Prefix that are greater than After and not greater than Last. If
// Last is "", the interval extends to the end of the prefix.
type Range struct {
	Prefix, After, Last Key
	// Seen contains the version of each record in the interval, in key order. Seen includes expired
	// records.
	Seen []Version
}

// RangeOf returns the Range of the keys that a Scan with the given arguments has visited. The
// argument "found" contains the records that the Scan returned.
func RangeOf(prefix, after Key, limit int, found []Record) Range {
	g := Range{Prefix: prefix, After: after, Seen: make([]Version, len(found))}
	for i, r := range found {
		g.Seen[i] = r.Version()
	}
	if len(found) == limit && limit > 0 {
		g.Last = found[len(found)-1].Key
	}
	return g
}

// Contains reports whether a key is in the interval of g. A record under the key need not exist.
func (g Range) Contains(k Key) bool {
	return k.HasPrefix(g.Prefix) && k > g.After && (g.Last == "" || k <= g.Last)
}

// Position is a position in the commit order of a backend. Positions can be compared with ==. Only
// the backend interprets the fields of a Position. A Position is valid only for the Backend value
// that returned the Position, unless the documentation of the backend says otherwise. The zero
// Position means that the position is unknown.
type Position struct{ Commit, Index uint64 }

// Before reports whether p comes before q in the order of commits.
func (p Position) Before(q Position) bool {
	return p.Commit < q.Commit || p.Commit == q.Commit && p.Index < q.Index
}

// Held is a set of observations that must still be true when a write is committed. An observation
// is the version of a record or the content of a range. The zero Held has no observations and never
// causes ErrChanged.
type Held struct {
	// Since is the position of the earliest observation, or an earlier position. The backend
	// therefore needs to check only the writes after Since. If Since is the zero Position, the
	// backend has to compare all observations.
	Since Position
	// Versions can contain versions of absent records and of floors.
	Versions []Version
	Ranges   []Range
}

// ErrChanged means that a version or a range in a Held has changed.
var ErrChanged = errors.New("a record changed since it was read")

// Empty reports whether h contains no observations.
func (h Held) Empty() bool { return len(h.Versions) == 0 && len(h.Ranges) == 0 }

// Size returns the number of versions that a full check compares.
func (h Held) Size() int {
	n := len(h.Versions)
	for _, g := range h.Ranges {
		n += len(g.Seen) + 1
	}
	return n
}

// Check compares all observations with the current state. All backends use Check. Check returns
// ErrChanged if the function "same" returns false for a version, or if the function sameRange
// returns false for a range. Check returns errors of the two functions unchanged.
func (h Held) Check(same func(Version) (bool, error), sameRange func(Range) (bool, error)) error {
	for _, v := range h.Versions {
		if ok, err := same(v); err != nil || !ok {
			return changedOr(err)
		}
	}
	for _, g := range h.Ranges {
		if ok, err := sameRange(g); err != nil || !ok {
			return changedOr(err)
		}
	}
	return nil
}

func changedOr(err error) error {
	if err != nil {
		return err
	}
	return ErrChanged
}

// Touched returns the observations in h that can change if the given keys are written. The result
// of Touched always includes the floors in h.
func (h Held) Touched(written []Key) Held {
	set := make(map[Key]struct{}, len(written))
	for _, k := range written {
		set[k] = struct{}{}
	}
	some := Held{Since: h.Since}
	for _, v := range h.Versions {
		if _, ok := set[v.Key]; ok || IsFloor(v.Key) {
			some.Versions = append(some.Versions, v)
		}
	}
	for _, g := range h.Ranges {
		if slices.ContainsFunc(written, g.Contains) {
			some.Ranges = append(some.Ranges, g)
		}
	}
	return some
}

// Footprint contains everything that an Update depends on.
type Footprint struct {
	// Keys are the keys of the records that fn receives, and the only keys that fn may write.
	Keys []Key
	// Held contains the observations that must still be true at the time of the update. If an
	// observation is no longer true, Update returns ErrChanged and does not call fn.
	Held Held
	// Budget limits the usage of the accounts that the writes increase. An Update that exceeds the
	// budget returns an *OverBudgetError and writes nothing.
	Budget Budget
}

// Keys returns a Footprint with the given keys, without observations and without a budget.
func Keys(keys ...Key) Footprint { return Footprint{Keys: keys} }
