package session

import (
	"context"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// List returns a page of sessions of the caller's tenant. The argument "limit" is the maximum
// number of sessions on the page. The ids of the listed sessions are greater than the argument
// "after". If the caller has a user, List returns only open sessions of that user. To get the
// following page, pass the result "next" as the argument "after". The result "next" is "" for the
// last page. A page can contain fewer sessions than the limit allows, because the work and the size
// of a page are also limited.
func (s *Sessions) List(ctx context.Context, c partition.Caller, after string, limit int) (found []Session, next string, err error) {
	found = []Session{}
	next, err = s.page(ctx, c, after, limit, func(r storage.Record) error {
		described, err := s.Describe(r)
		found = append(found, described)
		return err
	})
	return found, next, err
}

// List is like Sessions.List, but returns a page of workflows of the caller's tenant.
func (w *Workflows) List(ctx context.Context, c partition.Caller, after string, limit int) (found []Workflow, next string, err error) {
	found = []Workflow{}
	next, err = w.page(ctx, c, after, limit, func(r storage.Record) error {
		described, err := w.Describe(r)
		found = append(found, described)
		return err
	})
	return found, next, err
}

// page calls the function "visit" for each record on a page of a list. The result is the last id on
// the page, or "" if the page is the last page.
func (l *lifecycle) page(ctx context.Context, c partition.Caller, after string, limit int, visit func(storage.Record) error) (next string, err error) {
	base := partition.Caller{Tenant: c.Tenant, User: c.User}
	if err := base.Check(); err != nil {
		return "", err
	}
	prefix := l.db.App.System(l.of.kind, base)
	var start storage.Key
	if after != "" {
		start = prefix.With(storage.Part{Tag: l.of.part, Value: after})
	}
	page := lister{lifecycle: l, caller: base}
	chunks := l.db.Heads(ctx, prefix)
	if c.User != "" {
		chunks = func(after storage.Key, n int) ([]storage.Head, error) {
			return l.db.Backend.ScanTag(ctx, l.db.App.OfUser(base, prefix), after, n)
		}
	}
	last, err := records.Page(chunks, start, limit, func(h storage.Head) (bool, error) {
		r, shown, err := page.listed(ctx, h)
		if err != nil || !shown {
			return false, err
		}
		return true, visit(r)
	})
	if err != nil {
		return "", l.db.Fault("list "+l.of.noun+"s", err)
	}
	return last.Part(l.of.part), nil
}

// lister selects the records of a page.
type lister struct {
	*lifecycle
	// caller contains the user whose sessions are listed, or "" for all users.
	caller partition.Caller
	read   records.PageContents
}

// listed returns the record to which a head belongs. The boolean result is true if the list
// contains the record. The error is records.ErrPageFull if the record does not fit on the page.
func (l *lister) listed(ctx context.Context, head storage.Head) (r storage.Record, shown bool, err error) {
	if !l.read.Fits(head.ContentBytes) {
		return r, false, records.ErrPageFull
	}
	if r, err = l.db.Get(ctx, head.Key); err != nil || !r.Exists() {
		return r, false, err
	}
	if !l.read.Add(int64(len(r.Content))) {
		return r, false, records.ErrPageFull
	}
	state, err := Decode(r)
	return r, err == nil && (l.caller.User == "" || state.User == l.caller.User && l.endOf(r, state) == nil), err
}

// IDs returns the ids of the sessions of the caller's user. IDs includes open sessions, and ended
// sessions to which other records can refer.
func (l *lifecycle) IDs(ctx context.Context, c partition.Caller) (ids []string, err error) {
	err = l.db.ScanTag(ctx, l.db.App.OfUser(c, l.db.App.System(l.of.kind, c)), func(heads []storage.Head) error {
		for _, h := range heads {
			ids = append(ids, h.Key.Part(l.of.part))
		}
		return nil
	})
	return ids, err
}
