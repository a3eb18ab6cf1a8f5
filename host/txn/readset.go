package txn

import (
	"context"
	"slices"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// readSet contains the observations on which an attempt depends.
type readSet struct {
	db *DB
	o  *Options
	// held contains the scanned ranges and the versions of records. The versions in "held" belong
	// to records that were read, to records on which the lifetimes of read records depend, and to
	// floors.
	held storage.Held
	// lives contains records on which the lifetimes of other records depend.
	lives map[storage.Key]storage.Record
	// The field "at" is the time of the last snapshot. until is the earliest expiry of the visible
	// records that were read. If no record expires, "until" is zero.
	at, until time.Time
	// unverified is true if the field "held" contains observations that the last snapshot did not
	// check.
	unverified bool
}

// life is the lifetime of a visible record. The field "until" is the end of the lifetime. If the
// lifetime never ends, "until" is zero. The field "depends" lists the records on which the lifetime
// depends. If a record in the list does not exist, the list contains a Record with only a key.
type life struct {
	until   time.Time
	depends []storage.Record
}

// hold adds the version of a record to the versions that must not change.
func (s *readSet) hold(r *storage.Record, key storage.Key) {
	s.held.Versions = append(s.held.Versions, storage.VersionOf(key, *r))
}

// depend adds the lifetime of an entry to the read set. The result is false if the lifetime depends
// on a record that has changed since an earlier snapshot.
func (s *readSet) depend(e *entry) bool {
	if e.base.Exists() {
		s.until = earlier(s.until, e.life.until)
	}
	for _, r := range e.life.depends {
		if known, ok := s.lives[r.Key]; ok && !known.SameVersion(r) {
			return false
		} else if ok {
			continue
		}
		if s.lives == nil {
			s.lives = map[storage.Key]storage.Record{}
		}
		s.lives[r.Key] = r
		if !s.db.breaks(dependsHold) {
			s.hold(&r, r.Key)
		}
	}
	return true
}

// read returns the records whose keys are in the argument "want". The method also checks that the
// observations in the field "held" and the ranges in the argument "more" are still true. If an
// observation or a range has changed, the method returns storage.ErrChanged. If a record that was
// read has expired, the method returns ErrConflict.
func (s *readSet) read(ctx context.Context, want []storage.Key, more []storage.Range) ([]storage.Record, error) {
	held := s.heldBut(readsHold)
	held.Ranges = append(held.Ranges[:len(held.Ranges):len(held.Ranges)], more...)
	records, at, err := s.db.backend.Read(ctx, want, held)
	if err != nil {
		return nil, err
	}
	s.held.Since, s.unverified = at, false
	s.tick()
	if ended(s.until, s.at) && !s.db.breaks(livesHold) {
		return nil, ErrConflict
	}
	return records, nil
}

// heldBut returns the observations in the field "held". In tests, a DB can break rules. If the DB
// breaks the given rule, the result contains no versions. If the DB breaks the rule rangesHold, the
// result contains no ranges.
func (s *readSet) heldBut(broken rule) storage.Held {
	held := s.held
	if s.db.breaks(broken) {
		held.Versions = nil
	}
	if s.db.breaks(rangesHold) {
		held.Ranges = nil
	}
	return held
}

// tick records the time of a snapshot. If the clock goes back, the time of the transaction stays
// the same.
func (s *readSet) tick() {
	if now := s.db.now(); now.After(s.at) {
		s.at = now
	}
}

// visible reports whether a body sees the given record, and returns the lifetime of the record. A
// body does not see an expired record. The lifetime can depend on other records. If the attempt has
// not read one of the other records, and the function "find" does not return this record, the
// result "missing" contains the key of this record.
//
// To save stack space, visible and its callers pass pointers to records. The call of "visible" is
// at the deepest point of a run's stack. When a stack outgrows its size, Go copies the stack.
func (s *readSet) visible(raw *storage.Record, at time.Time, find func(storage.Key) *storage.Record) (l life, alive bool, missing []storage.Key) {
	if !raw.Exists() {
		return life{}, false, nil
	}
	own := s.lifeOf(raw)
	if ended(own.Until, at) {
		return life{}, false, nil
	}
	l.until = own.Until
	if len(own.Depends) > 0 {
		missing = s.dependOn(&l, own.Depends, find)
	}
	if len(missing) > 0 || ended(l.until, at) {
		return life{depends: l.depends}, false, missing
	}
	return l, true, nil
}

// dependOn makes a lifetime depend on the records with the given keys. dependOn returns the keys
// whose records it does not find.
func (s *readSet) dependOn(l *life, keys []storage.Key, find func(storage.Key) *storage.Record) (missing []storage.Key) {
	for _, key := range keys {
		r, ok := s.lives[key]
		if !ok {
			found := find(key)
			if found == nil {
				missing = append(missing, key)
				continue
			}
			r = *found
		}
		r.Key = key
		l.until = earlier(l.until, s.lifeOf(&r).Until)
		l.depends = append(l.depends, r)
	}
	return missing
}

func (s *readSet) lifeOf(r *storage.Record) Life {
	if live := s.o.Live; live != nil {
		return live(*r)
	}
	return Life{Until: r.Expires}
}

// ended reports whether a lifetime has ended. If until is zero, the lifetime never ends.
func ended(until, at time.Time) bool { return !until.IsZero() && !at.Before(until) }

// earlier returns the earlier of two times. Zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// prefixes returns the prefixes that the attempt scanned.
func (s *readSet) prefixes() []storage.Key {
	var prefixes []storage.Key
	for _, r := range s.held.Ranges {
		if !slices.Contains(prefixes, r.Prefix) {
			prefixes = append(prefixes, r.Prefix)
		}
	}
	return prefixes
}
