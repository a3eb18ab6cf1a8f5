package host

import (
	"context"

	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// Users is the data of the users of a Host's app. It is safe for concurrent use.
type Users struct{ h *Host }

// Users returns the data of the app's users.
func (h *Host) Users() Users { return Users{h} }

// Erase removes everything of the caller's user; see memory.Service.Erase.
func (u Users) Erase(ctx context.Context, caller Caller) (memory.Erased, error) {
	id, err := u.h.newID("erase")
	if err != nil {
		return memory.Erased{}, err
	}
	u.h.ledger.flush() // what waits may name the user's sessions
	erased, err := u.h.memory.Erase(ctx, caller.as(id))
	u.h.ledger.noteAct(caller, id, actErase, report.Effects{}, err)
	return erased, err
}
