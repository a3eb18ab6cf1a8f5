package session

import (
	"context"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// List returns a page of at most limit sessions of the caller's tenant, whose ids follow after. If
// the caller has a user, it lists only open sessions of that user. Pass next as after to get the
// next page. It is "" on the last page. A page can contain fewer than limit sessions, because the
// work and the size of a page are limited.
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

// listed returns the session of a record's head and whether the list contains the session. The
// error is records.ErrPageFull if the session does not fit on the page.
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

// IDs returns the ids of the sessions of the caller's user. It includes open sessions, and ended
// sessions to which other records can refer.
func (s *Sessions) IDs(ctx context.Context, c partition.Caller) (ids []string, err error) {
	err = s.db.ScanTag(ctx, s.db.App.OfUser(c, s.db.App.System(partition.Session, c)), func(heads []storage.Head) error {
		for _, h := range heads {
			ids = append(ids, h.Key.Part(storage.Session))
		}
		return nil
	})
	return ids, err
}
