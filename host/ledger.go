package host

import (
	"context"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/ledger"
)

// Ledger is a handle for the ledger of an app. If an entry is not part of a commit, it is written
// in the background. Ledger is safe for concurrent use.
type Ledger struct {
	h *Host

	flushing sync.Mutex // serializes flushes: a flush returns after all earlier flushes

	mu      sync.Mutex
	waiting []pendingEntry
	lost    int
	wake    chan struct{}
	closing chan struct{}
	once    sync.Once
	done    sync.WaitGroup
}

// pendingEntry is an entry that has not been written yet.
type pendingEntry struct {
	tenant string
	entry  ledger.Entry
}

// These are the limits on pending entries. The constant ledgerTime is the time limit for writing
// pending entries when the Host is closed.
const (
	maxWaiting  = 10_000
	ledgerChunk = 256
	ledgerTime  = 10 * time.Second
)

func newLedger(h *Host) *Ledger {
	return &Ledger{h: h, wake: make(chan struct{}, 1), closing: make(chan struct{})}
}

// store returns the stored ledger of a tenant.
func (l *Ledger) store() *ledger.Ledger { return l.h.memory.Ledger() }

// start starts a background goroutine. The goroutine writes entries until the method "close" is
// called. If the app keeps no ledger, start does nothing.
func (l *Ledger) start() {
	if l.store().Enabled() {
		l.done.Go(l.work)
	}
}

// failed logs that some entries could not be written.
func (l *Ledger) failed(entries int, err error) {
	l.h.log.Error("cannot write entries of the ledger", "entries", entries, "error", err)
}

// add adds an entry to the queue of the background goroutine.
func (l *Ledger) add(tenant string, e ledger.Entry) {
	if !l.store().Enabled() {
		return
	}
	l.mu.Lock()
	if len(l.waiting) < maxWaiting {
		l.waiting = append(l.waiting, pendingEntry{tenant, e})
	} else {
		l.lost++
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// work writes pending entries until the ledger is closed.
func (l *Ledger) work() {
	for {
		select {
		case <-l.wake:
			l.flush()
		case <-l.closing:
			l.flush()
			return
		}
	}
}

// close writes the pending entries.
func (l *Ledger) close() {
	l.once.Do(func() { close(l.closing) })
	l.done.Wait()
}

// flush writes the pending entries. If the Host's background work is stopped, flush continues,
// because the entries of acknowledged runs must be written.
func (l *Ledger) flush() {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), ledgerTime)
	defer cancel()
	for {
		tenant, chunk, lost := l.take()
		if lost > 0 {
			l.failed(lost, errLedgerFull)
		}
		if len(chunk) == 0 {
			return
		}
		if err := l.store().Add(ctx, tenant, chunk); err != nil {
			l.failed(len(chunk), err)
		}
	}
}

var errLedgerFull = abi.Faultf(abi.Unavailable, "too many runs ended before their ledger entries were written")

// take removes the next pending entries of one tenant from the queue. take returns the removed
// entries, and the number of entries that were dropped because the queue was full.
func (l *Ledger) take() (tenant string, chunk []ledger.Entry, lost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost, l.lost = l.lost, 0
	n := 0
	for n < len(l.waiting) && n < ledgerChunk && l.waiting[n].tenant == l.waiting[0].tenant {
		chunk = append(chunk, l.waiting[n].entry)
		n++
	}
	if n > 0 {
		tenant = l.waiting[0].tenant
	}
	l.waiting = append(l.waiting[:0], l.waiting[n:]...)
	return tenant, chunk, lost
}

// Entries returns ledger entries of the caller's tenant, oldest first; see ledger.Ledger.Entries.
// Entries includes all runs of this process that have ended. If a run in another process has changed
// nothing, its entry appears shortly after the end of the run.
func (l *Ledger) Entries(ctx context.Context, caller Caller, q ledger.Query) (found []ledger.Entry, next string, more bool, err error) {
	err = l.h.admitted(ctx, caller, func() (err error) {
		l.flush() // the caller expects the entries of runs that have already ended
		found, next, more, err = l.store().Entries(ctx, caller.as("").Tenant, q)
		return err
	})
	return found, next, more, err
}
