package host

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// ledger notes runs that stored nothing, which no commit of their own carries, in the background.
type ledger struct {
	memory *memory.Service
	failed func(entries int, err error)

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
	entry  memory.LedgerEntry
}

// What the ledger keeps waiting, and how long it may take to write it when the Host closes.
const (
	maxWaiting  = 10_000
	ledgerChunk = 256
	ledgerTime  = 10 * time.Second
)

func newLedger(m *memory.Service, failed func(int, error)) *ledger {
	return &ledger{memory: m, failed: failed, wake: make(chan struct{}, 1), closing: make(chan struct{})}
}

// add lets an entry be written soon.
func (l *ledger) add(tenant string, e memory.LedgerEntry) {
	if !l.memory.KeepsLedger() {
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
func (l *ledger) work() {
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
func (l *ledger) close() {
	l.once.Do(func() { close(l.closing) })
	l.done.Wait()
}

// flush writes what waits. It is not stopped by what stops the Host: what was acknowledged belongs into the ledger.
func (l *ledger) flush() {
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
		if err := l.memory.Note(ctx, tenant, chunk); err != nil {
			l.failed(len(chunk), err)
		}
	}
}

var errLedgerFull = abi.Faultf(abi.Unavailable, "more runs ended than the ledger could be told of")

// take returns the next entries of one tenant, and how many were lost.
func (l *ledger) take() (tenant string, chunk []memory.LedgerEntry, lost int) {
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

// Ledger returns what runs read and wrote in the caller's tenant, oldest first; see memory.Service.Ledger. What stored
// nothing is there a moment after it ended.
func (h *Host) Ledger(ctx context.Context, caller Caller, q memory.LedgerQuery) (found []memory.LedgerEntry, next string, more bool, err error) {
	err = h.admitted(ctx, caller, func() (err error) {
		found, next, more, err = h.memory.Ledger(ctx, h.caller(caller, "").Tenant, q)
		return err
	})
	return found, next, more, err
}

// The words for what is in the ledger.
const (
	actRun     = "run"
	actDryRun  = "dry_run"
	actOperate = "operate"
	actList    = "list"
	actRender  = "render"
	actPurge   = "purge"
	actErase   = "erase"
	actDeclare = "declare"
	actExport  = "export"
	actImport  = "import"
	actLoad    = "download"

	actExportUser = "export_user"
)

// entry is what the ledger gets to know of a run before it is over.
func (r *run) entry() *memory.LedgerEntry {
	act, tool := actRun, r.inv.Tool
	if r.inv.Dry {
		act = actDryRun
	}
	if r.tool == nil { // then the name may be anything
		tool = ""
	}
	return &memory.LedgerEntry{
		Run: r.info.ID, Act: act, Tool: tool, Actor: r.inv.Caller.Actor, User: r.inv.Caller.User, Session: r.inv.Caller.Session,
		At: r.began,
	}
}

// note notes a run that is over and that no commit noted.
func (r *run) note(done memory.Done, result *report.Result) {
	if done.Noted || r.info.ID == "" || result.Repeated {
		return
	}
	e := r.entry()
	e.Attempts, e.Reads, e.Writes = result.Attempts, result.Effects.Reads, []report.WriteEffect{} // of a dry run too
	if result.Error != nil {
		e.Code = result.Error.Code
	}
	r.h.ledger.add(r.info.Caller.Tenant, *e)
}

// NoteDeclared notes in the ledger that an operator created or changed stores, which whoever opens hosts does.
func (h *Host) NoteDeclared(caller Caller, stores ...string) error {
	return h.noteStores(caller, actDeclare, stores, nil)
}

// NoteImported notes in the ledger that an operator imported stores, or why that failed.
func (h *Host) NoteImported(caller Caller, failed error, stores ...string) error {
	return h.noteStores(caller, actImport, stores, failed)
}

// NoteExported notes in the ledger that an operator exported the configuration of the app.
func (h *Host) NoteExported(caller Caller) error { return h.noteStores(caller, actExport, nil, nil) }

func (h *Host) noteStores(caller Caller, act string, stores []string, failed error) error {
	id, err := h.newID(act)
	if err != nil {
		return err
	}
	effects := report.Effects{Writes: []report.WriteEffect{}, Reads: []report.ReadEffect{}}
	for _, store := range stores {
		if failed == nil {
			effects.Writes = append(effects.Writes, report.WriteEffect{Store: store, Op: actDeclare})
		}
	}
	h.noteAct(caller, id, act, effects, failed)
	return nil
}

// NoteDownload notes in the ledger that an operator downloaded a file of the caller's session.
func (h *Host) NoteDownload(caller Caller, file string) error {
	id, err := h.newID(actLoad)
	if err != nil {
		return err
	}
	e := h.act(caller, id, actLoad, report.Effects{}, nil)
	e.File = file
	h.ledger.add(h.caller(caller, id).Tenant, e)
	return nil
}

// noteAct notes what an operator did.
func (h *Host) noteAct(caller Caller, id, act string, effects report.Effects, err error) {
	h.ledger.add(h.caller(caller, id).Tenant, h.act(caller, id, act, effects, err))
}

// began is when what has an id began: at the time in there, to the millisecond.
func (h *Host) began(id string) time.Time {
	_, text, _ := strings.Cut(id, "_")
	made, err := ulid.ParseStrict(text)
	if err != nil {
		return h.clock().UTC()
	}
	return ulid.Time(made.Time()).UTC()
}

// act is the entry of what an operator did.
func (h *Host) act(caller Caller, id, act string, effects report.Effects, err error) memory.LedgerEntry {
	c := h.caller(caller, id)
	e := memory.LedgerEntry{
		Run: id, Act: act, Actor: caller.Actor, User: c.User, Session: c.Session, At: h.began(id), Attempts: 1,
		Reads: effects.Reads, Writes: effects.Writes,
	}
	if act == actErase {
		e.User = "" // who was erased must not be in there
	}
	if e.Reads == nil {
		e.Reads, e.Writes = []report.ReadEffect{}, []report.WriteEffect{}
	}
	if err != nil {
		e.Code = abi.FaultOf(err).Code
	}
	return e
}
