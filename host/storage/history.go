package storage

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"sort"
	"sync"
)

// Changed describes a committed write. Version is the version that the write stored or, if Deleted
// is set, removed.
type Changed struct {
	Version
	Deleted bool
}

// ErrTooOld means that the position in a call to Changes is older than the beginning of the
// history. After ErrTooOld, a caller of Changes has to read all records again.
var ErrTooOld = errors.New("the position is older than the history")

// Limits of a History.
const (
	historyChanges = 16 << 10
	historyBytes   = 4 << 20 // the total size of keys and generations
)

// smallCheck is the maximum size of a small Held. The observations of a small Held are all
// compared. For a larger Held, the history is searched first.
const smallCheck = 16

// EndOf returns a position that follows all writes of a commit. EndOf is for backends that number
// their commits.
func EndOf(commit uint64) Position { return Position{Commit: commit, Index: math.MaxUint64} }

// History is an in-memory list of the latest writes to a backend. The backend must number its
// commits. The size of a History is bounded. A backend may reuse a commit number only after a call
// to Discard. History is safe for concurrent use.
type History struct {
	mu   sync.RWMutex
	from Position // the field "kept" contains all changes after the position "from"
	kept []past   // the changes in the order of positions
	// text is the concatenation of the keys and generations of the changes in "kept". The fields
	// "kept" and "text" contain no pointers, because the garbage collector would have to follow
	// tens of thousands of pointers in each cycle.
	text []byte
	// maxChanges is the maximum length of the field "kept", and maxBytes is the maximum length of
	// the field "text".
	maxChanges, maxBytes int
}

// past is one change in a History. The key and the generation of the change are stored in
// History.text from the offset "start".
type past struct {
	at              Position
	revision        int64
	start           int
	key, generation int // lengths
	deleted         bool
}

// The method changed returns the Changed value of a past change.
func (h *History) changed(p *past) Changed {
	behind := p.start + p.key
	return Changed{
		Version: Version{
			Key: h.key(p), Revision: p.revision, Generation: string(h.text[behind : behind+p.generation]),
		},
		Deleted: p.deleted,
	}
}

func (h *History) key(p *past) Key { return Key(h.text[p.start : p.start+p.key]) }

// NewHistory returns an empty History that accepts the commits after the commit "last".
func NewHistory(last uint64) *History {
	return &History{from: EndOf(last), maxChanges: historyChanges, maxBytes: historyBytes}
}

// Add adds the writes of a commit in the order of the argument. Add must be called before the
// commit becomes visible to readers.
func (h *History) Add(commit uint64, changes []Changed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, c := range changes {
		h.kept = append(h.kept, past{
			at: Position{commit, uint64(i)}, revision: c.Revision, deleted: c.Deleted,
			start: len(h.text), key: len(c.Key), generation: len(c.Generation),
		})
		h.text = append(append(h.text, c.Key...), c.Generation...)
	}
	h.trim()
}

// trim removes the oldest quarter of the changes if the history exceeds its limits. Each removal
// copies the remaining changes. To make copies rare, the method removes many changes at once.
func (h *History) trim() {
	if len(h.kept) <= h.maxChanges && len(h.text) <= h.maxBytes {
		return
	}
	drop, start := 0, 0
	for drop < len(h.kept) && (len(h.kept)-drop > h.maxChanges/4*3 || len(h.text)-start > h.maxBytes/4*3) {
		p := &h.kept[drop]
		start, h.from = p.start+p.key+p.generation, p.at
		drop++
	}
	h.kept, h.text = slices.Delete(h.kept, 0, drop), slices.Delete(h.text, 0, start)
	for i := range h.kept {
		h.kept[i].start -= start
	}
}

// Discard removes the changes of the given commit and of all later commits, which have failed.
func (h *History) Discard(commit uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.after(Position{Commit: commit - 1, Index: math.MaxUint64})
	if i < len(h.kept) {
		h.kept, h.text = h.kept[:i], h.text[:h.kept[i].start]
	}
}

// The method "after" returns the index of the first change after a position. The caller must hold
// the mutex.
func (h *History) after(p Position) int {
	return sort.Search(len(h.kept), func(i int) bool { return p.Before(h.kept[i].at) })
}

// Suspects uses the history to find the observations in the argument "held" that the given commit
// or an earlier commit may have changed. The argument "extra" contains written keys that the
// history does not contain yet.
func (h *History) Suspects(held Held, commit uint64, extra []Key) Held {
	size := held.Size()
	if size <= smallCheck {
		return held
	}
	written, ok := h.keys(held.Since, commit, size-len(extra))
	if !ok {
		return held
	}
	return held.Touched(append(written, extra...))
}

// keys returns the keys that were written after the position "since" and not after the given
// commit. The second result is false if the history does not contain all of the written keys, or if
// the number of keys exceeds the argument "limit".
func (h *History) keys(since Position, commit uint64, limit int) ([]Key, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if !h.reaches(since, commit) {
		return nil, false
	}
	i, end := h.after(since), h.after(EndOf(commit))
	if end-i > limit {
		return nil, false
	}
	keys := make([]Key, 0, end-i)
	for ; i < end; i++ {
		keys = append(keys, h.key(&h.kept[i]))
	}
	return keys, true
}

// reaches reports whether the history contains all changes from a position to a commit.
func (h *History) reaches(since Position, commit uint64) bool {
	return since != Position{} && !since.Before(h.from) && !EndOf(commit).Before(since)
}

// Changes implements Backend.Changes for a snapshot that contains the given commit and all earlier
// commits.
func (h *History) Changes(prefix Key, since Position, limit int, commit uint64) ([]Changed, Position, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if !h.reaches(since, commit) {
		return nil, Position{}, ErrTooOld
	}
	var found []Changed
	wanted := []byte(prefix)
	for i, end := h.after(since), h.after(EndOf(commit)); i < end; i++ {
		p := &h.kept[i]
		if !bytes.HasPrefix(h.text[p.start:p.start+p.key], wanted) {
			continue
		}
		if len(found) == limit {
			return found, since, nil
		}
		found, since = append(found, h.changed(p)), p.at
	}
	return found, EndOf(commit), nil
}
