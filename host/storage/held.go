package storage

import (
	"errors"
	"slices"
)

// Version names the state of one record. A Version without a revision stands for "no record".
type Version struct {
	Key        Key
	Revision   int64
	Generation string
}

// Version returns the version of r. That of the zero Record has no key: see VersionOf.
func (r Record) Version() Version {
	return Version{Key: r.Key, Revision: r.Revision, Generation: r.Generation}
}

// VersionOf returns the version of what lies under a key, given the record that was found there.
func VersionOf(k Key, found Record) Version {
	v := found.Version()
	v.Key = k
	return v
}

// Range is a section of the key order together with the records that were seen in it: the keys under Prefix that
// come after After, up to and including Last, or to the end of the prefix if Last is "".
type Range struct {
	Prefix, After, Last Key
	// Seen holds the version of each record in the section, in the order of keys, expired records included.
	Seen []Version
}

// RangeOf returns the Range that a Scan with these arguments has covered, given the records that it returned.
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

// Contains reports whether a key lies in the section, whether or not there is a record.
func (g Range) Contains(k Key) bool {
	return k.HasPrefix(g.Prefix) && k > g.After && (g.Last == "" || k <= g.Last)
}

// Position is a point in the order of a backend's commits. Positions compare with ==; what their fields contain is the
// backend's own business. A Position is valid for the Backend value that returned it, and for others only where
// the backend says so. The zero Position stands for "unknown".
type Position struct{ Commit, Index uint64 }

// Before reports whether p comes before q in the order of commits.
func (p Position) Before(q Position) bool {
	return p.Commit < q.Commit || p.Commit == q.Commit && p.Index < q.Index
}

// Held is a set of observations that must still be true: versions of records and of the records of ranges. The zero
// Held is always true.
type Held struct {
	// Since is a position at or before which none of the observations was made: each was made at Since or later.
	// It lets a backend look only at what was written from then on. The zero Position means that all is compared.
	Since Position
	// Versions may name absent records, and floors.
	Versions []Version
	Ranges   []Range
}

// ErrChanged is returned if a held version or range is no longer what was observed.
var ErrChanged = errors.New("a record changed since it was read")

// Empty reports whether there is nothing to check.
func (h Held) Empty() bool { return len(h.Versions) == 0 && len(h.Ranges) == 0 }

// Size returns how many versions a check of everything compares.
func (h Held) Size() int {
	n := len(h.Versions)
	for _, g := range h.Ranges {
		n += len(g.Seen) + 1
	}
	return n
}

// Check is the part of a check that is the same for every backend. It returns ErrChanged if same reports a
// version that has changed, or sameRange a range. An error of either comes back as it is.
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

// Touched returns the part of h that writes to some keys can have changed. Floors always count as written.
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

// Footprint is everything that an Update depends on.
type Footprint struct {
	// Keys are those whose records fn gets, and the only ones that it may write.
	Keys []Key
	// Held must be true when the Update takes place, or it fails with ErrChanged and fn is not called.
	Held Held
	// Budget bounds what the accounts may hold that the writes add to. An Update that exceeds it fails with an
	// *OverBudgetError and writes nothing.
	Budget Budget
}

// Keys returns a Footprint of keys only.
func Keys(keys ...Key) Footprint { return Footprint{Keys: keys} }
