package journal

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/toolrun/toolrun/abi"
)

// The defaults of Limits.
const (
	DefaultEntries      = 256
	DefaultBytes        = 16 << 20
	DefaultLiveAttempts = 3
)

// Limits contains the bounds of a journal. If a field is zero, the field's default applies. Zero
// never means "no limit".
type Limits struct {
	// Entries is the maximum number of recorded calls. Default: 256.
	Entries int
	// Bytes is the maximum total size of all answers and keys. Default: 16 MiB.
	Bytes int
	// LiveAttempts is the maximum number of attempts that can make new calls. Default: 3.
	LiveAttempts int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Entries:      cmp.Or(max(l.Entries, 0), DefaultEntries),
		Bytes:        cmp.Or(max(l.Bytes, 0), DefaultBytes),
		LiveAttempts: cmp.Or(max(l.LiveAttempts, 0), DefaultLiveAttempts),
	}
}

// Journal contains the external calls of one run and its nested runs. Journal is safe for
// concurrent use.
type Journal struct {
	runKey string
	limits Limits

	mu      sync.Mutex
	entries map[Key]*entry
	// started is the number of calls that have started so far. It numbers the calls.
	started int
	// finished is the number of results that have arrived so far. It numbers the results.
	finished int
	// recorded is the number of entries that have a result, and bytes is the total size of these
	// entries.
	recorded, bytes int
	full            bool
	// attempts is the number of attempts so far, and live is the number of attempts that have made
	// a new call.
	attempts, live int
	current        *Attempt
}

// entry is a call that is in flight or has an answer. The journal's lock guards the entry. After
// the channel "done" has been closed, the fields answer, err and discarded never change and can be
// read without the lock.
type entry struct {
	key    Key
	order  int
	safe   bool
	cancel context.CancelFunc
	// attempt is the number of the last attempt that requested the call.
	attempt   int
	cancelled bool
	// finished is the result's position in the order in which the results arrived. Without a
	// result, finished is 0.
	finished int
	done     chan struct{}

	answer []byte
	err    error
	// encoded contains the JSON encoding of the error in the field "err".
	encoded []byte
	// discarded is true if the call was cancelled. A call that was cancelled has no answer.
	discarded bool
	// restored is true if the entry was decoded.
	restored bool
}

// New returns an empty journal. runKey identifies the run in idempotency keys. Two runs must have
// different values of runKey, and the value must be the same after a restart.
func New(runKey string, limits Limits) *Journal {
	return &Journal{runKey: runKey, limits: limits.withDefaults(), entries: map[Key]*entry{}}
}

// Begin starts a new attempt. In the new attempt, the numbers of equal requests begin at 1 again.
// Begin also ends the previous attempt, but does not wait for the previous attempt's calls. If the
// journal is full, Begin returns a *ConflictError, because the run cannot be executed again.
func (j *Journal) Begin() (*Attempt, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.full {
		return nil, &ConflictError{Reason: "the external calls of the run exceed the limits of the journal"}
	}
	if j.current != nil {
		j.current.stop()
	}
	j.attempts++
	j.current = &Attempt{journal: j, number: j.attempts, equal: map[Key]int{}, ended: make(chan struct{})}
	return j.current, nil
}

// Full reports whether an answer did not fit into the journal. If the journal is full, the current
// attempt can finish, but the run cannot be executed again. If there is then a conflict, the run
// fails with the fault conflict.
func (j *Journal) Full() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.full
}

// Retry removes the recorded faults that have one of the given codes. A later attempt then makes
// the calls of these faults again. Retry does not remove faults that Decode has restored. Before
// Retry is called, all attempts of the journal must have ended.
func (j *Journal) Retry(codes ...abi.Code) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for key, e := range j.entries {
		if e.restored || e.inFlight() || e.err == nil || !slices.Contains(codes, abi.FaultOf(e.err).Code) {
			continue
		}
		delete(j.entries, key)
		j.recorded--
		j.bytes -= e.size()
	}
}

// Orphans returns the orphans of the run, in the order in which they began. An orphan is a call
// that an earlier attempt has made and that the last attempt has not requested. The run's result
// does not depend on orphans. Orphans omits cancelled calls.
func (j *Journal) Orphans() []Key {
	j.mu.Lock()
	defer j.mu.Unlock()
	var orphans []Key
	for _, e := range j.ordered() {
		if e.attempt != j.attempts && !e.cancelled {
			orphans = append(orphans, e.key)
		}
	}
	return orphans
}

// ordered returns the entries in the order in which the calls began. The caller must hold the
// journal's lock.
func (j *Journal) ordered() []*entry {
	all := make([]*entry, 0, len(j.entries))
	for _, e := range j.entries {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entry) int { return cmp.Compare(a.order, b.order) })
	return all
}

// ConflictError reports that a run cannot be executed again. The run ends with the fault conflict,
// which its guest cannot catch.
type ConflictError struct{ Reason string }

// Error returns the message of the fault conflict.
func (e *ConflictError) Error() string { return e.fault().Error() }

// Unwrap returns the fault.
func (e *ConflictError) Unwrap() error { return e.fault() }

func (e *ConflictError) fault() *abi.Fault {
	return abi.Faultf(abi.Conflict, "the run was not executed again after a conflict: %s", e.Reason)
}
