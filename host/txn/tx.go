package txn

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// Tx is what one attempt of a transaction reads and writes. It is used by one goroutine at a time, and good until its body
// returns. Contents that it returns, or is given, must not be changed.
type Tx struct {
	run     *run
	entries []*entry // in the order in which they were touched
	index   map[storage.Key]*entry

	// held is everything that the attempt depends on: versions of keys that were read, of what their lives depend on, and
	// of floors; and ranges, which hold their rows.
	held storage.Held
	// lives are the records that the lives of others depend on, and that are held.
	lives map[storage.Key]storage.Record
	// at is when the last snapshot was taken, and until the earliest end of a record that was read alive; zero for never.
	at, until time.Time
	// bytes are the contents of all entries, and blindBytes those that blind updates wrote.
	bytes, blindBytes int

	// unverified is true while something is held that the last snapshot did not check.
	unverified bool

	depth, nested int
	undo          []saved
	// over is set once the attempt cannot succeed any more, and again if the body is then executed again.
	over  error
	again bool
}

// entry is one record as the attempt sees it.
type entry struct {
	key storage.Key
	// raw is the record as it is stored, and base what is visible of it: raw, or nothing if its life has ended.
	raw, base storage.Record
	// life is the life of base, and at where raw was read.
	life life
	at   storage.Position
	// read is true for a record in the read set, and ranged for one that is held by a range.
	read, ranged bool
	// above is the highest revision that the key ever had, if floored is true; the attempt then depends on it.
	above   int64
	floored bool
	write   write
}

// write is what the attempt does to a record.
type write struct {
	set bool
	// next is the record as the body left it; it does not exist if it was deleted. Only its content, expiry and tags count.
	next     storage.Record
	fresh    bool // the record begins its life in this attempt
	warnings any
	// updates led from base to next, as long as the record is not in the read set, and bytes are those that they cost.
	updates []Update
	bytes   int
}

// Now returns the time of the run, in UTC and whole microseconds: what the records that it writes bear.
func (tx *Tx) Now() time.Time { return tx.run.now }

// Seed returns the seed for random numbers of the run. Its error is that of the random source.
func (tx *Tx) Seed() (uint64, error) {
	err := tx.run.draw()
	return tx.run.seed, err
}

// Get returns the record under key as the transaction sees it: the zero Record if there is none, or none that is alive.
// It joins the read set. A record that the transaction itself wrote comes as it will be stored.
func (tx *Tx) Get(ctx context.Context, key storage.Key) (storage.Record, error) {
	e, err := tx.load(ctx, key, true)
	if err != nil {
		return storage.Record{}, err
	}
	return tx.seen(ctx, e)
}

// Holds reports whether the key is in the read set.
func (tx *Tx) Holds(key storage.Key) bool {
	e := tx.find(key)
	return e != nil && e.read
}

// Stored returns what lies under a key that the transaction has touched, whether it is alive or not.
func (tx *Tx) Stored(key storage.Key) storage.Record {
	if e := tx.find(key); e != nil {
		return e.raw
	}
	return storage.Record{}
}

// Writes calls yield with each record that the transaction has written so far, as it lies there and as it will be stored:
// a zero Record for one that is removed. Revisions are not final.
func (tx *Tx) Writes(yield func(stored, next storage.Record) bool) {
	for _, e := range tx.entries {
		if e.write.set && !yield(e.raw, tx.pending(e)) {
			return
		}
	}
}

// seen returns a record of the read set as it will be after the commit.
func (tx *Tx) seen(ctx context.Context, e *entry) (storage.Record, error) {
	if !e.write.set {
		return e.base, nil
	}
	if e.write.next.Exists() && !e.base.Exists() {
		if err := tx.floor(ctx, e); err != nil {
			return storage.Record{}, err
		}
	}
	return tx.pending(e), nil
}

// pending returns what the attempt makes of an entry's base.
func (tx *Tx) pending(e *entry) storage.Record {
	if !e.write.set {
		return e.base
	}
	return tx.stamp(e.base, max(e.above, e.raw.Revision), e.write)
}

// stamp returns the record that a write makes of base. A record that begins does so above a revision.
func (tx *Tx) stamp(base storage.Record, above int64, w write) storage.Record {
	next := w.next
	if !next.Exists() {
		return storage.Record{}
	}
	next.Run, next.Updated = tx.run.o.ID, tx.run.now
	next.Revision, next.Generation, next.Created = base.Revision+1, base.Generation, base.Created
	if !base.Exists() {
		next.Revision = above + 1
	}
	if w.fresh || !base.Exists() {
		next.Generation, next.Created = tx.run.generation, tx.run.now
	}
	if base.Exists() && !next.Updated.After(base.Updated) && !tx.run.db.breaks(timesRise) {
		next.Updated = base.Updated.Add(time.Microsecond) // whatever clocks do
	}
	return next
}

// usable returns why the Tx cannot be used any more.
func (tx *Tx) usable() error {
	if err := tx.run.ctx.Err(); tx.over == nil && err != nil {
		tx.over = err
	}
	return tx.over
}

// find returns the entry of a key, or nil. Most attempts touch few records.
func (tx *Tx) find(key storage.Key) *entry {
	if tx.index != nil {
		return tx.index[key]
	}
	for _, e := range tx.entries {
		if e.key == key {
			return e
		}
	}
	return nil
}

const fewEntries = 16

// add adds an entry.
func (tx *Tx) add(e *entry) {
	tx.entries = append(tx.entries, e)
	tx.bytes += len(e.raw.Content)
	if tx.index == nil && len(tx.entries) > fewEntries {
		tx.index = make(map[storage.Key]*entry, 4*fewEntries)
		for _, known := range tx.entries {
			tx.index[known.key] = known
		}
	}
	if tx.index != nil {
		tx.index[e.key] = e
	}
}

// load brings a record into the attempt and, if read is set, into the read set.
func (tx *Tx) load(ctx context.Context, key storage.Key, read bool) (*entry, error) {
	if err := tx.usable(); err != nil {
		return nil, err
	}
	if read && tx.unverified {
		if _, err := tx.read(ctx, nil); err != nil {
			return nil, err
		}
	}
	e := tx.find(key)
	if e != nil && (e.read || !read) {
		return e, nil
	}
	if e == nil && len(tx.entries) >= MaxRecords {
		return nil, ErrLimit
	}
	now, err := tx.look(ctx, key)
	if err != nil {
		return nil, err
	}
	if e == nil && tx.bytes > 0 && tx.bytes+len(now.raw.Content) > MaxBytes {
		return nil, ErrLimit
	}
	if e != nil && e.write.set && !sameState(e, now) && !tx.run.db.breaks(joinsHold) {
		return nil, tx.conflict() // the updates were decided on another record
	}
	e = tx.put(now)
	if read {
		tx.join(e)
		tx.hold(e.raw, key)
	}
	return e, nil
}

// put brings a record as it was read into the attempt.
func (tx *Tx) put(now *entry) *entry {
	e := tx.find(now.key)
	if e == nil {
		tx.add(now)
		return now
	}
	tx.bytes += len(now.raw.Content) - len(e.raw.Content)
	e.raw, e.base, e.life, e.at = now.raw, now.base, now.life, now.at
	return e
}

// sameState reports whether two entries of a key have the same base.
func sameState(e, now *entry) bool {
	return e.raw.SameVersion(now.raw) && e.base.Exists() == now.base.Exists()
}

// join puts an entry into the read set; its version is held from now on.
func (tx *Tx) join(e *entry) {
	e.read = true
	e.write.updates, tx.blindBytes, e.write.bytes = nil, tx.blindBytes-e.write.bytes, 0
	if e.base.Exists() {
		tx.until = earlier(tx.until, e.life.until)
	}
	for _, r := range e.life.depends {
		if _, known := tx.lives[r.Key]; known {
			continue
		}
		if tx.lives == nil {
			tx.lives = map[storage.Key]storage.Record{}
		}
		tx.lives[r.Key] = r
		if !tx.run.db.breaks(dependsHold) {
			tx.hold(r, r.Key)
		}
	}
}

// hold adds a version to those that must not change.
func (tx *Tx) hold(r storage.Record, key storage.Key) {
	tx.held.Versions = append(tx.held.Versions, storage.VersionOf(key, r))
}

// conflict ends the attempt.
func (tx *Tx) conflict() error {
	tx.over, tx.again = ErrConflict, true
	return ErrConflict
}
