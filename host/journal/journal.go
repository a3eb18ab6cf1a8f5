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

// Limits contains the bounds of a journal. If a field is zero, its default applies; zero never
// means "no limit".
type Limits struct {
	// Entries is the maximum number of recorded calls. Default: 256.
	Entries int
	// Bytes is the maximum size of all answers and keys. Default: 16 MiB.
	Bytes int
	// LiveAttempts is the maximum number of attempts that make new calls. Default: 3.
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
	// started numbers the calls in the order of their start.
	started int
	// finished numbers the results in the order of their arrival.
	finished int
	// recorded is the number of answered entries, and bytes is their total size.
	recorded, bytes int
	full            bool
	// attempts is the number of attempts, and live is the number of attempts that made a new call.
	attempts, live int
	current        *Attempt
}

// entry is a call that is in flight or has an answer. The journal's lock guards the entry until the
// channel "done" is closed. After "done" is closed, the fields answer, err and discarded are
// immutable.
type entry struct {
	key    Key
	order  int
	safe   bool
	cancel context.CancelFunc
	// attempt is the number of the last attempt that requested the call.
	attempt   int
	cancelled bool
	// finished is the position of the result in the order of arrival, or 0 if there is no result.
	finished int
	done     chan struct{}

	answer []byte
	err    error
	// The field "encoded" is the error in the field "err", encoded as JSON.
	encoded []byte
	// discarded is true if the call was cancelled. A call that was cancelled has no answer.
	discarded bool
	// restored is true if the entry was decoded.
	restored bool
}

// New returns an empty journal. runKey identifies the run in idempotency keys: it must differ
// between runs and survive a restart.
func New(runKey string, limits Limits) *Journal {
	return &Journal{runKey: runKey, limits: limits.withDefaults(), entries: map[Key]*entry{}}
}

// Begin starts a new attempt, in which equal requests are numbered from 1 again. Begin also ends
// the previous attempt, without waiting for its calls. If the journal is full, Begin returns a
// *ConflictError, because the run cannot be executed again.
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

// Full reports whether an answer did not fit into the journal. If the journal is full, the run can
// finish, but it cannot be executed again. A conflict then becomes the fault of the run.
func (j *Journal) Full() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.full
}

// Retry removes the recorded faults that have one of the given codes, so that a later attempt makes
// the calls again. Retry does not remove faults that Decode has restored. The attempts of the
// journal must have ended before Retry is called.
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

// Orphans returns the orphans of the run, in the order in which the calls began. An orphan is a
// call of an earlier attempt that the last attempt has not repeated. The calls of orphans were
// made, but the run's result does not depend on them. Orphans omits cancelled calls.
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

// The method "ordered" returns the entries in the order of their start. The caller of ordered must
// hold the lock of the journal.
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
