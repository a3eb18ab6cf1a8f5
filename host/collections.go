package host

import (
	"context"

	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// Collections is a handle for the collections of an app. It is meant for operators: the grants of
// tools do not apply. It is safe for concurrent use.
type Collections struct{ h *Host }

// CollectionsOf returns a handle for the collections of a host's app.
func CollectionsOf(h *Host) Collections { return Collections{h} }

// All returns the collections of the app in the caller's tenant; see memory.ListCollections.
func (c Collections) All(ctx context.Context, caller Caller) ([]memory.CollectionInfo, error) {
	return memory.ListCollections(ctx, c.h.memory, caller.as("").Tenant)
}

// List returns a page of the entries of a collection with their contents; see memory.ListEntries. If
// the caller has a user or a session, it returns only the entries in their namespaces.
func (c Collections) List(ctx context.Context, caller Caller, q memory.EntryQuery) (found []memory.Entry, next string, err error) {
	id, err := c.h.newID("list")
	if err != nil {
		return nil, "", err
	}
	err = c.h.admitted(ctx, caller, func() (err error) {
		found, next, err = memory.ListEntries(ctx, c.h.memory, caller.as(id), q)
		return err
	})
	c.h.ledger.recordAct(caller, id, actList, report.Effects{Reads: []report.ReadEffect{{Store: q.Collection}}, Writes: []report.WriteEffect{}}, err)
	return found, next, err
}
