package host

import (
	"context"

	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
)

// Users is a handle for the data of an app's users. Users is safe for concurrent use.
type Users struct{ h *Host }

// Users returns a handle for the data of the app's users.
func (h *Host) Users() Users { return Users{h} }

// Erase removes all data of the caller's user; see memory.Service.Erase.
func (u Users) Erase(ctx context.Context, caller Caller) (memory.Erased, error) {
	id, err := u.h.newID("erase")
	if err != nil {
		return memory.Erased{}, err
	}
	u.h.ledger.flush() // pending ledger entries can contain the user's session ids
	erased, err := u.h.memory.Erase(ctx, caller.as(id))
	u.eraseVectors(caller)
	u.h.ledger.recordAct(caller, id, actErase, report.Effects{}, err)
	return erased, err
}

// eraseVectors removes the vectors of the caller's user from the vector cache.
func (u Users) eraseVectors(caller Caller) {
	if u.h.models != nil && caller.User != "" {
		u.h.models.Vectors().Erase(model.Consumer{Tenant: caller.as("").Tenant, App: u.h.app.ID, User: caller.User})
	}
}
