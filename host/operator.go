package host

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// Do executes one memory operation for a caller under an Authority, and returns what it read and wrote: the violations of
// a content that was stored although it does not fit the schema of its store are in there. Under memory.Operator a caller
// that names only a session acts for the session's user; under any other Authority such a session is access_denied.
func (h *Host) Do(ctx context.Context, caller Caller, a memory.Authority, call abi.Call) (json.RawMessage, report.Effects, error) {
	id, err := h.newID("op")
	if err != nil {
		return nil, report.Effects{}, err
	}
	if a.Unrestricted() {
		caller = h.owning(ctx, caller)
	}
	reply, effects, err := h.memory.Do(ctx, caller.as(id), a, call)
	h.ledger.noteAct(caller, id, actOperate, effects, err)
	return reply, effects, err
}

// owning completes an operator's caller that names a session alone with the session's user, whom a guest's caller
// would have to be.
func (h *Host) owning(ctx context.Context, caller Caller) Caller {
	if caller.User != "" || caller.Session == "" {
		return caller
	}
	if session, err := h.Sessions().Get(ctx, caller); err == nil {
		caller.User = session.User
	}
	return caller
}

// List returns a page of the living records of a store: of the caller's user or session where it has one. Next is the
// after of the page that follows, "" where there is none. A page may hold less than limit.
func (h *Host) List(ctx context.Context, caller Caller, store, after string, limit int) (found []memory.Listed, next string, err error) {
	id, err := h.newID("list")
	if err != nil {
		return nil, "", err
	}
	err = h.admitted(ctx, caller, func() (err error) {
		found, next, err = h.memory.List(ctx, caller.as(id), store, after, limit)
		return err
	})
	h.ledger.noteAct(caller, id, actList, report.Effects{Reads: []report.ReadEffect{{Store: store}}, Writes: []report.WriteEffect{}}, err)
	return found, next, err
}

// Purge removes all records of a store in the caller's tenant, declared or not, and returns how many.
func (h *Host) Purge(ctx context.Context, caller Caller, store string) (int, error) {
	id, err := h.newID("purge")
	if err != nil {
		return 0, err
	}
	n, err := h.memory.Purge(ctx, caller.as("").Tenant, store)
	h.ledger.noteAct(caller, id, actPurge, report.Effects{Writes: []report.WriteEffect{{Store: store, Op: "purge"}}, Reads: []report.ReadEffect{}}, err)
	return n, err
}

// Report looks at every record of the caller's tenant and says how they stand to the declarations.
func (h *Host) Report(ctx context.Context, caller Caller) ([]memory.StoreReport, error) {
	return h.memory.Report(ctx, caller.as("").Tenant)
}

// Unfit counts the records of a store in the caller's tenant that do not fit a declaration; all reports whether every
// record was looked at. See memory.Service.Unfit.
func (h *Host) Unfit(ctx context.Context, caller Caller, st declare.Store) (unfit int, all bool, err error) {
	return h.memory.Unfit(ctx, caller.as("").Tenant, st)
}

// Erase removes everything of the caller's user; see memory.Service.Erase.
func (h *Host) Erase(ctx context.Context, caller Caller) (memory.Erased, error) {
	id, err := h.newID("erase")
	if err != nil {
		return memory.Erased{}, err
	}
	h.ledger.flush() // what waits may name the user's sessions
	erased, err := h.memory.Erase(ctx, caller.as(id))
	h.ledger.noteAct(caller, id, actErase, report.Effects{}, err)
	return erased, err
}
