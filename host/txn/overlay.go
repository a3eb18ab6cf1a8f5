package txn

import (
	"github.com/toolrun/toolrun/host/storage"
)

// overlay contains the records that an attempt has used. An entry of the overlay contains a record
// as the attempt read it, and the attempt's write of the record.
type overlay struct {
	entries []*entry // the entries in the order of their first use
	index   map[storage.Key]*entry
	// bytes is the total size of the contents of all entries. The field blindBytes is the total
	// size of the contents that blind updates wrote.
	bytes, blindBytes int
	// writes is the number of written entries. The field writeBytes is the total size of the
	// contents of the written entries.
	writes, writeBytes int
	// undo contains the earlier writes that updates inside a savepoint have replaced.
	undo []saved
}

// entry is a record as an attempt sees the record.
type entry struct {
	key storage.Key
	// raw is the stored record. base is the visible record. If raw has expired, base is the zero
	// Record. If raw has not expired, base is equal to raw.
	raw, base storage.Record
	// life is the lifetime of the record "base" at the time of the read. The field "at" is the
	// position of the read in the commit order of the backend.
	life life
	at   storage.Position
	// read is true if the record is in the read set. ranged is true if the record is in a scanned
	// range.
	read, ranged bool
	// peeked is true if the body has seen the record through Peek. Peek does not add the record to
	// the read set.
	peeked bool
	// above is the highest revision that the key ever had. above is set only if floored is true. If
	// floored is true, the attempt depends on the revision "above".
	above   int64
	floored bool
	write   write
}

// write describes the change of a record.
type write struct {
	set bool
	// The field "next" is the record after the updates of the body. If the body deleted the record,
	// "next" is the zero Record. Only the content, the expiry, the tags and the revision of "next"
	// are used. The stored revision is at least the revision of "next".
	next     storage.Record
	fresh    bool // true if the attempt creates the record
	warnings any
	// updates contains the blind updates that computed the record "next" from the record "base".
	// bytes is the total size of the contents that the updates wrote.
	updates []Update
	bytes   int
}

// find returns the entry of a key, or nil if the key has no entry.
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

// fewEntries is the maximum number of entries in an overlay without an index.
const fewEntries = 16

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

// count adds the sizes of an entry to the totals of the overlay. If the argument "sign" is -1, the
// method subtracts the sizes. To change an entry, the caller subtracts the entry from the totals,
// changes the entry, and adds it to the totals again.
func (o *overlay) count(e *entry, sign int) {
	size := sign * e.size()
	o.bytes += size
	if e.write.set {
		o.writes += sign
		o.writeBytes += size
	}
}

// size adds the size of the entry's content before the write to the size of the content after the
// write.
func (e *entry) size() int { return len(e.raw.Content) + len(e.write.next.Content) }

// fits reports whether the attempt can write a content of n bytes to the entry. The limit
// MaxWriteBytes does not apply to the first write of an attempt.
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

// saved contains a write that an update inside a savepoint has replaced.
type saved struct {
	entry *entry
	write write
}

// save stores the current write of an entry before an update, so that the update can be undone.
func (o *overlay) save(e *entry) { o.undo = append(o.undo, saved{e, e.write}) }

// touched returns the keys that the attempt wrote or read. If a key was only read by a scan of a
// range, the key is not included.
func (o *overlay) touched() []storage.Key {
	var keys []storage.Key
	for _, e := range o.entries {
		if e.write.set || e.read && !e.ranged {
			keys = append(keys, e.key)
		}
	}
	return keys
}

// effects returns the effects of the attempt except the writes.
func (o *overlay) effects(attempts int) Effects {
	effects := Effects{Attempts: attempts, Reads: make([]Read, 0, len(o.entries))}
	for _, e := range o.entries {
		if e.read || e.peeked {
			effects.Reads = append(effects.Reads, Read{Key: e.key, Revision: e.base.Revision})
		}
	}
	return effects
}

func (o *overlay) wrote() bool { return o.writes > 0 }

// restore undoes the update that belongs to the last call of "save".
func (o *overlay) restore() {
	last := len(o.undo) - 1
	e, before := o.undo[last].entry, o.undo[last].write
	o.undo = o.undo[:last]
	before.updates, before.bytes = nil, 0 // the entry is now in the read set
	o.count(e, -1)
	e.write = before
	o.count(e, 1)
}

// dropUpdates removes the blind updates of an entry that is in the read set.
func (o *overlay) dropUpdates(e *entry) {
	o.blindBytes -= e.write.bytes
	e.write.updates, e.write.bytes = nil, 0
}
