package host

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// Stores is a handle for the stores of an app. Stores is meant for operators, so the handle ignores
// the grants of tools. Stores is safe for concurrent use.
type Stores struct{ h *Host }

// Stores returns a handle for the app's stores.
func (h *Host) Stores() Stores { return Stores{h} }

// Do performs one memory operation for a caller, and returns the effects of the operation. The
// operation has the rights of the given Authority. If content is stored although it violates its
// schema, the effects contain the violations. If the Authority is memory.Operator and the caller
// has no user, the caller acts as the user of its session or its workflow. With any other
// Authority, a caller without a user gets the fault access_denied if its session or workflow
// belongs to a user.
func (s Stores) Do(ctx context.Context, caller Caller, a memory.Authority, call abi.Call) (json.RawMessage, report.Effects, error) {
	id, err := s.h.newID("op")
	if err != nil {
		return nil, report.Effects{}, err
	}
	if a.Unrestricted() {
		caller = s.h.Sessions().withUser(ctx, caller)
	}
	reply, effects, err := s.h.memory.Do(ctx, caller.as(id), a, call)
	s.h.ledger.recordAct(caller, id, actOperate, effects, err)
	return reply, effects, err
}

// List returns a page of a store's records. The page contains at most the given number of records,
// and no expired records. If the caller has a user, a session or a workflow, List returns no
// records of other users, sessions or workflows. The argument "after" is the position at which the
// page starts. To get the next page, pass the result "next" as this argument. The result "next" is
// "" on the last page. A page can contain fewer records than the limit allows, even if it is not
// the last page.
func (s Stores) List(ctx context.Context, caller Caller, store, after string, limit int) (found []memory.RecordInfo, next string, err error) {
	id, err := s.h.newID("list")
	if err != nil {
		return nil, "", err
	}
	err = s.h.admitted(ctx, caller, func() (err error) {
		found, next, err = s.h.memory.List(ctx, caller.as(id), store, after, limit)
		return err
	})
	s.h.ledger.recordAct(caller, id, actList, report.Effects{Reads: []report.ReadEffect{{Store: store}}, Writes: []report.WriteEffect{}}, err)
	return found, next, err
}

// Purge removes all records that a store has in the caller's tenant. Purge returns the number of
// removed records. The app does not need to declare the store.
func (s Stores) Purge(ctx context.Context, caller Caller, store string) (int, error) {
	id, err := s.h.newID("purge")
	if err != nil {
		return 0, err
	}
	n, err := s.h.memory.Purge(ctx, caller.as("").Tenant, store)
	s.h.ledger.recordAct(caller, id, actPurge, report.Effects{Writes: []report.WriteEffect{{Store: store, Op: "purge"}}, Reads: []report.ReadEffect{}}, err)
	return n, err
}

// Report compares all records of the caller's tenant with the app's declarations.
func (s Stores) Report(ctx context.Context, caller Caller) ([]memory.StoreAudit, error) {
	return s.h.memory.Audit(ctx, caller.as("").Tenant)
}

// Unfit checks the records that a store has in the caller's tenant. Unfit returns the number of
// records that do not match the given declaration. The result "all" is true if every record was
// checked. See memory.Service.Unfit.
func (s Stores) Unfit(ctx context.Context, caller Caller, st declare.Store) (unfit int, all bool, err error) {
	return s.h.memory.Unfit(ctx, caller.as("").Tenant, st)
}
