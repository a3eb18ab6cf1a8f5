package storage

import (
	"errors"
	"math"
	"slices"
	"sort"
	"sync"
)

// Changed is one write that took place: the version that it left, or that it removed.
type Changed struct {
	Version
	Deleted bool
}

// ErrTooOld is returned by Changes for a position that the history does not reach back to. Who follows a backend then
// reads everything anew.
var ErrTooOld = errors.New("the history does not reach back to that position")

// What a History keeps at most.
const (
	historyChanges = 16 << 10
	historyBytes   = 4 << 20 // of keys and generations
)

// smallCheck is the size of a Held that is compared rather than looked up in the history.
const smallCheck = 16

// EndOf returns the position behind everything that a commit wrote, for backends that number their commits.
func EndOf(commit uint64) Position { return Position{Commit: commit, Index: math.MaxUint64} }

// History holds what the latest commits of a backend wrote, in memory and bounded, for backends that number their
// commits without gaps in between that matter: a number is used again only after Discard. It is safe for concurrent use.
type History struct {
	mu   sync.RWMutex
	from Position // everything after it is here
	kept []past   // in the order of positions
	size int      // of their keys and generations
	// maxChanges and maxBytes bound what is kept.
	maxChanges, maxBytes int
}

type past struct {
	at Position
	Changed
}

// NewHistory returns a History of the commits after last.
func NewHistory(last uint64) *History {
	return &History{from: EndOf(last), maxChanges: historyChanges, maxBytes: historyBytes}
}

// Add adds what a commit wrote, in the order of the writes. It is called before others can see the commit.
func (h *History) Add(commit uint64, changes []Changed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, c := range changes {
		h.kept = append(h.kept, past{Position{commit, uint64(i)}, c})
		h.size += len(c.Key) + len(c.Generation)
	}
	h.trim()
}

// trim forgets the oldest quarter if there are too many, so that it copies the rest rarely.
func (h *History) trim() {
	if len(h.kept) <= h.maxChanges && h.size <= h.maxBytes {
		return
	}
	drop := 0
	for drop < len(h.kept) && (len(h.kept)-drop > h.maxChanges/4*3 || h.size > h.maxBytes/4*3) {
		h.size -= len(h.kept[drop].Key) + len(h.kept[drop].Generation)
		h.from = h.kept[drop].at
		drop++
	}
	h.kept = slices.Delete(h.kept, 0, drop)
}

// Discard takes back what was added of commits from a number on, which did not take place.
func (h *History) Discard(commit uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.after(Position{Commit: commit - 1, Index: math.MaxUint64})
	for _, p := range h.kept[i:] {
		h.size -= len(p.Key) + len(p.Generation)
	}
	h.kept = slices.Delete(h.kept, i, len(h.kept))
}

// after returns the index of the first change after a position. The caller holds the mutex.
func (h *History) after(p Position) int {
	return sort.Search(len(h.kept), func(i int) bool { return p.Before(h.kept[i].at) })
}

// Suspects returns the part of held that has to be compared for a snapshot of everything up to a commit, given
// the keys that were written besides: what the history cannot rule out.
func (h *History) Suspects(held Held, commit uint64, besides []Key) Held {
	size := held.Size()
	if size <= smallCheck {
		return held
	}
	written, ok := h.keys(held.Since, commit, size-len(besides))
	if !ok {
		return held
	}
	return held.Touched(append(written, besides...))
}

// keys returns the keys written after since and up to a commit, and false if that is unknown or they are more than most.
func (h *History) keys(since Position, commit uint64, most int) ([]Key, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if !h.reaches(since, commit) {
		return nil, false
	}
	i, end := h.after(since), h.after(EndOf(commit))
	if end-i > most {
		return nil, false
	}
	keys := make([]Key, 0, end-i)
	for _, p := range h.kept[i:end] {
		keys = append(keys, p.Key)
	}
	return keys, true
}

// reaches reports whether everything after a position is known, and the position is one of the past.
func (h *History) reaches(since Position, commit uint64) bool {
	return since != Position{} && !since.Before(h.from) && !EndOf(commit).Before(since)
}

// Changes is Backend.Changes for a snapshot of everything up to a commit.
func (h *History) Changes(prefix Key, since Position, limit int, commit uint64) ([]Changed, Position, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if !h.reaches(since, commit) {
		return nil, Position{}, ErrTooOld
	}
	var found []Changed
	for _, p := range h.kept[h.after(since):h.after(EndOf(commit))] {
		if !p.Key.HasPrefix(prefix) {
			continue
		}
		if len(found) == limit {
			return found, since, nil
		}
		found, since = append(found, p.Changed), p.at
	}
	return found, EndOf(commit), nil
}
