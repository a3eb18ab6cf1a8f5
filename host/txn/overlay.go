package txn

import (
	"github.com/toolrun/toolrun/host/storage"
)

// overlay is the set of records that an attempt has used. Each entry has the record as it was read
// and the write of the attempt.
type overlay struct {
	entries []*entry // the entries in the order of their first use
	index   map[storage.Key]*entry
	// bytes is the total size of the contents of all entries. blindBytes is the total size of the
	// contents that blind updates wrote.
	bytes, blindBytes int
	// The field "writes" is the number of entries with a write, and writeBytes is the total size of
	// the contents of these entries.
	writes, writeBytes int
	// undo contains the writes that updates inside savepoints have replaced.
	undo []saved
}

// entry is a record as the attempt sees it.
type entry struct {
	key storage.Key
	// raw is the stored record. The field base is the visible record: raw, or the zero Record if raw
	// has expired.
	raw, base storage.Record
	// life is the lifetime of base at the time of the read. The field "at" is the position of the
	// read in the commit order of the backend.
	life life
	at   storage.Position
	// The field "read" reports whether the record is in the read set. ranged reports whether a scanned
	// range contains it.
	read, ranged bool
	// peeked reports whether the body has seen the record without adding the record to the read
	// set.
	peeked bool
	// The field "above" is the highest revision that the key ever had. The field "above" is set
	// only if floored is true, which means that the attempt depends on the revision "above".
	above   int64
	floored bool
	write   write
}

// write is a change of a record.
type write struct {
	set bool
	// The field "next" is the record after the updates of the body, or the zero Record if the body
	// deleted it. Only the content, the expiry, the tags and the revision of "next" are used. The
	// revision of "next" is a lower bound of the stored revision.
	next     storage.Record
	fresh    bool // true if the attempt creates the record
	warnings any
	// updates are the blind updates that were applied to the record base to compute the record
	// "next". bytes is the total size of the contents that the updates wrote.
	updates []Update
	bytes   int
}

// The method "find" returns the entry of a key, or nil.
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

// fewEntries is the maximum number of entries without an index.
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

// The method "count" adds an entry to the totals. If sign is -1, the method subtracts the entry.
// The caller subtracts an entry before a change of the entry, and adds the entry after the change.
func (o *overlay) count(e *entry, sign int) {
	size := sign * e.size()
	o.bytes += size
	if e.write.set {
		o.writes += sign
		o.writeBytes += size
	}
}

// The method "size" returns the sum of two sizes: the size of the entry's content before the write,
// and its size after the write.
func (e *entry) size() int { return len(e.raw.Content) + len(e.write.next.Content) }

// The method "fits" reports whether the entry can be written with a content of n bytes. The first
// write of an attempt is not limited by MaxWriteBytes.
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

// The method "put" adds the entry of a record that was read, or updates the existing entry.
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

// The method "save" saves the write of an entry before an update.
func (o *overlay) save(e *entry) { o.undo = append(o.undo, saved{e, e.write}) }

// The method "touched" returns the keys that the attempt wrote or read, except keys that were read
// only as part of a range.
func (o *overlay) touched() []storage.Key {
	var keys []storage.Key
	for _, e := range o.entries {
		if e.write.set || e.read && !e.ranged {
			keys = append(keys, e.key)
		}
	}
	return keys
}

// The method "effects" returns the effects of the attempt without its writes.
func (o *overlay) effects(attempts int) Effects {
	effects := Effects{Attempts: attempts}
	for _, e := range o.entries {
		if e.read || e.peeked {
			effects.Reads = append(effects.Reads, Read{Key: e.key, Revision: e.base.Revision})
		}
	}
	return effects
}

func (o *overlay) wrote() bool { return o.writes > 0 }

// The method "restore" undoes the most recent update that was saved.
func (o *overlay) restore() {
	last := len(o.undo) - 1
	e, before := o.undo[last].entry, o.undo[last].write
	o.undo = o.undo[:last]
	before.updates, before.bytes = nil, 0 // the entry is in the read set
	o.count(e, -1)
	e.write = before
	o.count(e, 1)
}

// dropUpdates removes the blind updates of an entry that is in the read set.
func (o *overlay) dropUpdates(e *entry) {
	o.blindBytes -= e.write.bytes
	e.write.updates, e.write.bytes = nil, 0
}
