package artifact

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// erasedKeys returns the key of the record that marks the caller's user as erased. The record
// exists only if the user has been erased. If the caller has no user, erasedKeys returns no key.
func (a *Artifacts) erasedKeys(c partition.Caller) []storage.Key {
	if c.User == "" {
		return nil
	}
	return []storage.Key{a.db.App.Erased(c)}
}

// notErasedSince returns a fault if the caller's user was erased after an upload began. Without
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

// notErased returns a fault if one of the marks shows that the user was erased after an upload
// began. A mark contains the time at which a user was erased.
func notErased(marks []storage.Record, began time.Time) error {
	for _, mark := range marks {
		if mark.Exists() && !began.IsZero() && !mark.Updated.Before(began) {
			return abi.Faultf(abi.Cancelled, "the user was erased during the upload; nothing was stored")
		}
	}
	return nil
}
