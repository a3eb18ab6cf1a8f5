package txn

import (
	"slices"

	"github.com/toolrun/toolrun/host/storage"
)

// overlay is the records that an attempt has touched: as they were read, and as it leaves them.
type overlay struct {
	entries []*entry // in the order in which they were touched
	index   map[storage.Key]*entry
	// bytes are the contents of all entries, and blindBytes those that blind updates wrote.
	bytes, blindBytes int
	// undo has what updates inside of savepoints replaced.
	undo []saved
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

const fewEntries = 16

// add adds an entry.
func (o *overlay) add(e *entry) {
	o.entries = append(o.entries, e)
	o.bytes += len(e.raw.Content)
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

// put brings a record as it was read into the attempt.
func (o *overlay) put(now *entry) *entry {
	e := o.find(now.key)
	if e == nil {
		o.add(now)
		return now
	}
	o.bytes += len(now.raw.Content) - len(e.raw.Content)
	e.raw, e.base, e.life, e.at = now.raw, now.base, now.life, now.at
	return e
}

// saved is what an update of a nested transaction replaced.
type saved struct {
	entry *entry
	write write
}

// save notes what an entry was before an update.
func (o *overlay) save(e *entry) { o.undo = append(o.undo, saved{e, e.write}) }

// touched are the keys that the attempt read one by one, or wrote.
func (o *overlay) touched() []storage.Key {
	var keys []storage.Key
	for _, e := range o.entries {
		if e.write.set || e.read && !e.ranged {
			keys = append(keys, e.key)
		}
	}
	return keys
}

// effects are what the attempt read.
func (o *overlay) effects(attempts int) Effects {
	effects := Effects{Attempts: attempts}
	for _, e := range o.entries {
		if e.read {
			effects.Reads = append(effects.Reads, Read{Key: e.key, Revision: e.base.Revision})
		}
	}
	return effects
}

func (o *overlay) wrote() bool {
	return slices.ContainsFunc(o.entries, func(e *entry) bool { return e.write.set })
}

// restore takes back the last update that was saved.
func (o *overlay) restore() {
	last := len(o.undo) - 1
	e, before := o.undo[last].entry, o.undo[last].write
	o.undo = o.undo[:last]
	before.updates, before.bytes = nil, 0 // the entry is in the read set
	o.bytes += len(before.next.Content) - len(e.write.next.Content)
	e.write = before
}

// keepOnly drops the blind updates of an entry that is in the read set.
func (o *overlay) keepOnly(e *entry) {
	o.blindBytes -= e.write.bytes
	e.write.updates, e.write.bytes = nil, 0
}
