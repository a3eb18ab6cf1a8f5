package host

import (
	"context"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/ledger"
)

// Ledger is the ledger of a Host: it lists entries, and adds those that no commit carries in the background. It is safe for
// concurrent use.
type Ledger struct {
	h *Host

	flushing sync.Mutex // one flush at a time, so that what was there before a flush is written after it

	mu      sync.Mutex
	waiting []noted
	lost    int
	wake    chan struct{}
	closing chan struct{}
	once    sync.Once
	done    sync.WaitGroup
}

type noted struct {
	tenant string
	entry  ledger.Entry
}

// What the ledger keeps waiting, and how long it may take to write it when the Host closes.
const (
	maxWaiting  = 10_000
	ledgerChunk = 256
	ledgerTime  = 10 * time.Second
)

func newLedger(h *Host) *Ledger {
	return &Ledger{h: h, wake: make(chan struct{}, 1), closing: make(chan struct{})}
}

// kept returns the ledger that is stored.
func (l *Ledger) kept() *ledger.Ledger { return l.h.memory.Ledger() }

// start adds entries in the background until close, if the Host keeps a ledger.
func (l *Ledger) start() {
	if l.kept().Enabled() {
		l.done.Go(l.work)
	}
}

// failed logs that entries are not in the ledger.
func (l *Ledger) failed(entries int, err error) {
	l.h.log.Error("write the ledger", "entries", entries, "error", err)
}

// add lets an entry be written soon.
func (l *Ledger) add(tenant string, e ledger.Entry) {
	if !l.kept().Enabled() {
		return
	}
	l.mu.Lock()
	if len(l.waiting) < maxWaiting {
		l.waiting = append(l.waiting, noted{tenant, e})
	} else {
		l.lost++
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// work writes entries until the ledger is closed, and then those that are left.
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

// close writes what is left.
func (l *Ledger) close() {
	l.once.Do(func() { close(l.closing) })
	l.done.Wait()
}

// flush writes what waits. It is not stopped by what stops the Host: what was acknowledged belongs into the ledger.
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
		if err := l.kept().Add(ctx, tenant, chunk); err != nil {
			l.failed(len(chunk), err)
		}
	}
}

var errLedgerFull = abi.Faultf(abi.Unavailable, "more runs ended than the ledger could be told of")

// take returns the next entries of one tenant, and how many were lost.
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

// Entries returns what runs read and wrote in the caller's tenant, oldest first; see ledger.Ledger.Entries. A run that
// stored nothing appears a moment after it ended.
func (l *Ledger) Entries(ctx context.Context, caller Caller, q ledger.Query) (found []ledger.Entry, next string, more bool, err error) {
	err = l.h.admitted(ctx, caller, func() (err error) {
		found, next, more, err = l.kept().Entries(ctx, caller.as("").Tenant, q)
		return err
	})
	return found, next, more, err
}
