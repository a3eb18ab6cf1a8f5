package txn

import (
	"github.com/toolrun/toolrun/host/storage"
)

// overlay is the set of records that an attempt has used, each as it was read and as the attempt
// leaves it.
type overlay struct {
	entries []*entry // in the order in which they were touched
	index   map[storage.Key]*entry
	// bytes is the size of the contents of all entries, and blindBytes of those that blind updates
	// wrote.
	bytes, blindBytes int
	// writes is the number of entries that are written, and writeBytes the size of their contents.
	writes, writeBytes int
	// undo has the writes that updates inside savepoints replaced.
	undo []saved
}

// entry is a record as the attempt sees it.
type entry struct {
	key storage.Key
	// raw is the stored record. Base is its visible state: raw, or the zero Record if its life has
	// ended.
	raw, base storage.Record
	// life is the life of base, at the position at which raw was read.
	life life
	at   storage.Position
	// read reports whether the record is in the read set, and ranged whether a range holds it.
	read, ranged bool
	// above is the highest revision that the key ever had, if floored is set. The attempt then
	// depends on it.
	above   int64
	floored bool
	write   write
}

// write is a change of a record.
type write struct {
	set bool
	// next is the record as the body left it, or the zero Record if it was deleted. Only its
	// content, expiry and tags count.
	next     storage.Record
	fresh    bool // this attempt creates the record
	warnings any
	// updates are the blind updates that led from base to next, and bytes the size of the contents
	// that they wrote.
	updates []Update
	bytes   int
}

// find returns the entry of a key, or nil. Most attempts touch few records.
func (o *overlay) find(key storage.Key) *entry {
	if o.index != nil {
		return o.index[key]
	}
	for _, e := range o.entries {
		if e.key == key {
			return e
		}
	}
	return nil
}

// fewEntries is the number of entries from which on they are indexed.
const fewEntries = 16

// add adds an entry.
func (o *overlay) add(e *entry) {
	o.entries = append(o.entries, e)
	o.count(e, 1)
	if o.index == nil && len(o.entries) > fewEntries {
		o.index = make(map[storage.Key]*entry, 4*fewEntries)
		for _, known := range o.entries {
			o.index[known.key] = known
		}
	}
	if o.index != nil {
		o.index[e.key] = e
	}
}

// count adds an entry to the sums. If sign is -1, it subtracts the entry, before a change.
func (o *overlay) count(e *entry, sign int) {
	size := sign * e.size()
	o.bytes += size
	if e.write.set {
		o.writes += sign
		o.writeBytes += size
	}
}

// size returns the size of the contents of the entry, before and after.
func (e *entry) size() int { return len(e.raw.Content) + len(e.write.next.Content) }

// fits reports whether the entry can be written with a content of n bytes. A single record always
// fits.
func (o *overlay) fits(e *entry, n int) bool {
	more := n - len(e.write.next.Content)
	if o.bytes > 0 && more > 0 && o.bytes+more > MaxBytes {
		return false
	}
	writes, bytes := o.writes, o.writeBytes+more
	if !e.write.set {
		writes, bytes = writes+1, o.writeBytes+len(e.raw.Content)+n
	}
	return writes <= MaxWrites && (writes == 1 || bytes <= MaxWriteBytes || bytes <= o.writeBytes)
}

// put adds the entry of a record that was read, or updates the existing entry.
func (o *overlay) put(now *entry) *entry {
	e := o.find(now.key)
	if e == nil {
		o.add(now)
		return now
	}
	o.count(e, -1)
	e.raw, e.base, e.life, e.at = now.raw, now.base, now.life, now.at
	o.count(e, 1)
	return e
}

// saved is a write that an update in a savepoint replaced.
type saved struct {
	entry *entry
	write write
}

// save saves the write of an entry before an update.
func (o *overlay) save(e *entry) { o.undo = append(o.undo, saved{e, e.write}) }

// touched returns the keys that the attempt wrote, or read other than in a range.
func (o *overlay) touched() []storage.Key {
	var keys []storage.Key
	for _, e := range o.entries {
		if e.write.set || e.read && !e.ranged {
			keys = append(keys, e.key)
		}
	}
	return keys
}

// effects returns the effects of the attempt, with only its reads.
func (o *overlay) effects(attempts int) Effects {
	effects := Effects{Attempts: attempts}
	for _, e := range o.entries {
		if e.read {
			effects.Reads = append(effects.Reads, Read{Key: e.key, Revision: e.base.Revision})
		}
	}
	return effects
}

func (o *overlay) wrote() bool { return o.writes > 0 }

// restore undoes the update that was saved last.
func (o *overlay) restore() {
	last := len(o.undo) - 1
	e, before := o.undo[last].entry, o.undo[last].write
	o.undo = o.undo[:last]
	before.updates, before.bytes = nil, 0 // the entry is in the read set
	o.count(e, -1)
	e.write = before
	o.count(e, 1)
}

// dropUpdates drops the blind updates of an entry that is in the read set.
func (o *overlay) dropUpdates(e *entry) {
	o.blindBytes -= e.write.bytes
	e.write.updates, e.write.bytes = nil, 0
}
