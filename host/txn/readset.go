package txn

import (
	"context"
	"slices"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// readSet is the set of everything that an attempt depends on.
type readSet struct {
	db *DB
	o  *Options
	// held has the versions of keys that were read, of the records that their lives depend on, and
	// of floors; and ranges, which hold their rows.
	held storage.Held
	// lives are the held records that the lives of others depend on.
	lives map[storage.Key]storage.Record
	// at is the time of the last snapshot. Until is the earliest end of the life of a record that
	// was read alive; zero for never.
	at, until time.Time
	// unverified is true while the last snapshot did not check everything that is held.
	unverified bool
}

// life is the life of a visible record. Until is its end, zero for never. Depends are the records
// that it depends on, each with its key, whether it exists or not.
type life struct {
	until   time.Time
	depends []storage.Record
}

// hold adds the version of a record to those that must not change.
func (s *readSet) hold(r *storage.Record, key storage.Key) {
	s.held.Versions = append(s.held.Versions, storage.VersionOf(key, *r))
}

// depend adds the life of an entry. It reports false if a record that it depends on has changed
// between two snapshots.
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

// read returns the records under want from a snapshot in which everything that is held, and more
// ranges, is unchanged. Otherwise it returns storage.ErrChanged, or ErrConflict if the life of a
// record that was read has ended.
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

// heldBut returns everything held, but omits the versions if a rule is broken.
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

// tick records the time of a snapshot. The time of a transaction never goes back, even if the clock
// was set back.
func (s *readSet) tick() {
	if now := s.db.now(); now.After(s.at) {
		s.at = now
	}
}

// visible returns a record as a body sees it (the zero Record if its life has ended) and its life.
// Missing are the keys of records that the life depends on, and that neither the attempt nor find
// has.
func (s *readSet) visible(raw storage.Record, at time.Time, find func(storage.Key) (storage.Record, bool)) (base storage.Record, l life, missing []storage.Key) {
	if !raw.Exists() {
		return storage.Record{}, life{}, nil
	}
	own := s.lifeOf(raw)
	if ended(own.Until, at) {
		return storage.Record{}, life{}, nil
	}
	l.until = own.Until
	for _, key := range own.Depends {
		r, ok := s.lives[key]
		if !ok {
			r, ok = find(key)
		}
		if !ok {
			missing = append(missing, key)
			continue
		}
		r.Key = key
		l.until = earlier(l.until, s.lifeOf(r).Until)
		l.depends = append(l.depends, r)
	}
	if len(missing) > 0 || ended(l.until, at) {
		return storage.Record{}, life{depends: l.depends}, missing
	}
	return raw, l, nil
}

func (s *readSet) lifeOf(r storage.Record) Life {
	if live := s.o.Live; live != nil {
		return live(r)
	}
	return Life{Until: r.Expires}
}

// ended reports whether a life has ended. The zero time stands for never.
func ended(until, at time.Time) bool { return !until.IsZero() && !at.Before(until) }

// earlier returns the earlier of two ends of lives.
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
