package artifact

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// If a user has been erased, a record marks the user as erased. erasedKeys returns the key of this
// record for the caller's user. If the caller has no user, erasedKeys returns no key.
func (a *Artifacts) erasedKeys(c partition.Caller) []storage.Key {
	if c.User == "" {
		return nil
	}
	return []storage.Key{a.db.App.Erased(c)}
}

// If the caller's user was erased after an upload began, notErasedSince returns a fault. Without
// this check, the upload would start a new session for a user who has been erased.
func (a *Artifacts) notErasedSince(ctx context.Context, c partition.Caller, began time.Time) error {
	if c.User == "" || began.IsZero() {
		return nil
	}
	marks, err := a.db.Backend.Get(ctx, a.erasedKeys(c)...)
	if err != nil {
		return a.db.Fault(storing, err)
	}
	return notErased(marks, began)
}

// The marks show when users were erased. If one of them shows that the user was erased after an
// upload began, notErased returns a fault.
func notErased(marks []storage.Record, began time.Time) error {
	for _, mark := range marks {
		if mark.Exists() && !began.IsZero() && !mark.Updated.Before(began) {
			return abi.Faultf(abi.Cancelled, "the user was erased during the upload; nothing was stored")
		}
	}
	return nil
}
