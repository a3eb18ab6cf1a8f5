package host

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// Stores is the stores of a Host's app, for operators: they are not bound to a tool. It is safe for concurrent use.
type Stores struct{ h *Host }

// Stores returns the stores of the app.
func (h *Host) Stores() Stores { return Stores{h} }

// Do executes one memory operation for a caller under an Authority, and returns what it read and wrote: the violations of
// a content that was stored although it does not fit the schema of its store are in there. Under memory.Operator a caller
// that names only a session acts for the session's user; under any other Authority such a session is access_denied.
func (s Stores) Do(ctx context.Context, caller Caller, a memory.Authority, call abi.Call) (json.RawMessage, report.Effects, error) {
	id, err := s.h.newID("op")
	if err != nil {
		return nil, report.Effects{}, err
	}
	if a.Unrestricted() {
		caller = s.h.Sessions().withUser(ctx, caller)
	}
	reply, effects, err := s.h.memory.Do(ctx, caller.as(id), a, call)
	s.h.ledger.noteAct(caller, id, actOperate, effects, err)
	return reply, effects, err
}

// List returns a page of the living records of a store: of the caller's user or session where it has one. Next is the
// after of the page that follows, "" where there is none. A page may hold less than limit.
func (s Stores) List(ctx context.Context, caller Caller, store, after string, limit int) (found []memory.RecordInfo, next string, err error) {
	id, err := s.h.newID("list")
	if err != nil {
		return nil, "", err
	}
	err = s.h.admitted(ctx, caller, func() (err error) {
		found, next, err = s.h.memory.List(ctx, caller.as(id), store, after, limit)
		return err
	})
	s.h.ledger.noteAct(caller, id, actList, report.Effects{Reads: []report.ReadEffect{{Store: store}}, Writes: []report.WriteEffect{}}, err)
	return found, next, err
}

// Purge removes all records of a store in the caller's tenant, declared or not, and returns how many.
func (s Stores) Purge(ctx context.Context, caller Caller, store string) (int, error) {
	id, err := s.h.newID("purge")
	if err != nil {
		return 0, err
	}
	n, err := s.h.memory.Purge(ctx, caller.as("").Tenant, store)
	s.h.ledger.noteAct(caller, id, actPurge, report.Effects{Writes: []report.WriteEffect{{Store: store, Op: "purge"}}, Reads: []report.ReadEffect{}}, err)
	return n, err
}

// Report looks at every record of the caller's tenant and says how they stand to the declarations.
func (s Stores) Report(ctx context.Context, caller Caller) ([]memory.StoreAudit, error) {
	return s.h.memory.Audit(ctx, caller.as("").Tenant)
}

// Unfit counts the records of a store in the caller's tenant that do not fit a declaration; all reports whether every
// record was looked at. See memory.Service.Unfit.
func (s Stores) Unfit(ctx context.Context, caller Caller, st declare.Store) (unfit int, all bool, err error) {
	return s.h.memory.Unfit(ctx, caller.as("").Tenant, st)
}
