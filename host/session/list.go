package session

import (
	"context"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// List returns a page of at most limit sessions of the caller's tenant, with ids after after. For a
// caller with a user, it lists only that user's open sessions. Next is the value of after for the
// following page, "" if this page is the last one. A page can have fewer sessions than limit,
// because its work and its contents are bounded.
func (s *Sessions) List(ctx context.Context, c partition.Caller, after string, limit int) (found []Session, next string, err error) {
	base := partition.Caller{Tenant: c.Tenant, User: c.User}
	if err := base.Check(); err != nil {
		return nil, "", err
	}
	prefix := s.db.App.System(partition.Session, base)
	var start storage.Key
	if after != "" {
		start = prefix.With(storage.Part{Tag: storage.Session, Value: after})
	}
	found = []Session{}
	read := records.PageContents{}
	chunks := s.db.Heads(ctx, prefix)
	if c.User != "" {
		chunks = func(after storage.Key, n int) ([]storage.Head, error) {
			return s.db.Backend.ScanTag(ctx, s.db.App.OfUser(base, prefix), after, n)
		}
	}
	last, err := records.Page(chunks, start, limit, func(r storage.Head) (bool, error) {
		listed, shown, err := s.listed(ctx, base, r, &read)
		if shown {
			found = append(found, listed)
		}
		return shown, err
	})
	if err != nil {
		return nil, "", s.db.Fault("list sessions", err)
	}
	return found, last.Part(storage.Session), nil
}

// listed returns the session of a head if the list shows it. The error is records.ErrPageFull if
// its content does not fit on the page.
func (s *Sessions) listed(ctx context.Context, c partition.Caller, head storage.Head, read *records.PageContents) (listed Session, shown bool, err error) {
	if !read.Fits(head.ContentBytes) {
		return listed, false, records.ErrPageFull
	}
	r, err := s.db.Get(ctx, head.Key)
	if err != nil || !r.Exists() {
		return listed, false, err
	}
	if !read.Add(int64(len(r.Content))) {
		return listed, false, records.ErrPageFull
	}
	listed, err = s.Describe(r)
	return listed, err == nil && (c.User == "" || listed.User == c.User && listed.Ended == nil), err
}

// IDs returns the ids of the sessions of the caller's user: the open ones, and ended ones that
// other records can refer to.
func (s *Sessions) IDs(ctx context.Context, c partition.Caller) (ids []string, err error) {
	err = s.db.ScanTag(ctx, s.db.App.OfUser(c, s.db.App.System(partition.Session, c)), func(heads []storage.Head) error {
		for _, h := range heads {
			ids = append(ids, h.Key.Part(storage.Session))
		}
		return nil
	})
	return ids, err
}
