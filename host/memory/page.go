package memory

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

const (
	// pageLooks bounds how many records one page of a list looks at, and pageChunk how many at a time.
	pageLooks = 2000
	pageChunk = 250
	// pageBytes bounds the contents that one page reads, unless one record has more.
	pageBytes = 1 << 20
)

// errPageFull ends a page before the record that it is returned for.
var errPageFull = errors.New("the page is full")

// pageContents counts the contents that a page has read.
type pageContents struct{ bytes int64 }

// fits reports whether a page has room for a content. One that has none yet always does.
func (p *pageContents) fits(bytes int64) bool { return p.bytes == 0 || p.bytes+bytes <= pageBytes }

// add counts a content if it fits, and reports whether it does.
func (p *pageContents) add(bytes int64) bool {
	if !p.fits(bytes) {
		return false
	}
	p.bytes += bytes
	return true
}

// Sessions returns a page of at most limit sessions of the caller's tenant whose ids come after after; of the caller's
// user alone where it has one, and then open ones alone. Next is the after of the page that follows, "" where there is
// none. A page may hold less than limit: the work for one is bounded, and so is the content that it holds.
func (s *Service) Sessions(ctx context.Context, c Caller, after string, limit int) (found []Session, next string, err error) {
	base := Caller{Tenant: c.Tenant, User: c.User}
	if err := base.check(); err != nil {
		return nil, "", err
	}
	prefix := s.system(systemSession, base)
	var start storage.Key
	if after != "" {
		start = prefix.With(storage.Part{Tag: storage.Session, Value: after})
	}
	found = []Session{}
	read := pageContents{}
	chunks := s.heads(ctx, prefix)
	if c.User != "" {
		chunks = func(after storage.Key, n int) ([]storage.Head, error) {
			return s.backend.ScanTag(ctx, s.ofUser(base, prefix), after, n)
		}
	}
	last, err := s.page(chunks, start, limit, func(r storage.Head) (bool, error) {
		session, shown, err := s.listedSession(ctx, base, r, &read)
		if shown {
			found = append(found, session)
		}
		return shown, err
	})
	if err != nil {
		return nil, "", s.hostFault("list sessions", err)
	}
	return found, last.Part(storage.Session), nil
}

// listedSession describes the session that a key of a list names, and reports whether the list shows it. The error is
// errPageFull if its content does not fit into the page.
func (s *Service) listedSession(ctx context.Context, c Caller, listed storage.Head, read *pageContents) (session Session, shown bool, err error) {
	if !read.fits(listed.ContentBytes) {
		return session, false, errPageFull
	}
	c.Session = listed.Key.Part(storage.Session)
	records, err := s.backend.Get(ctx, s.sessionKey(c))
	if err != nil || !records[0].Exists() {
		return session, false, err
	}
	if !read.add(int64(len(records[0].Content))) {
		return session, false, errPageFull
	}
	session, err = s.describe(records[0])
	return session, err == nil && (c.User == "" || session.User == c.User && session.Ended == nil), err
}

// heads returns a function that returns the first heads under a prefix after a key.
func (s *Service) heads(ctx context.Context, prefix storage.Key) func(after storage.Key, limit int) ([]storage.Head, error) {
	return func(after storage.Key, limit int) ([]storage.Head, error) {
		return s.backend.Heads(ctx, prefix, after, limit)
	}
}

// page calls show with the records of chunks, in the order of their keys, until it showed limit of them or show returned
// errPageFull. It returns the key after which the next page begins, "" where there is none.
func (s *Service) page(chunks func(after storage.Key, limit int) ([]storage.Head, error), after storage.Key, limit int, show func(storage.Head) (bool, error)) (storage.Key, error) {
	if limit < 1 {
		return "", abi.Faultf(abi.InvalidArgument, "a list needs a limit of at least 1")
	}
	shown := 0
	size := min(limit, pageChunk-1) + 1 // one more shows whether there is another page
	for looked := 0; looked < pageLooks; {
		chunk, err := chunks(after, size)
		if err != nil {
			return "", err
		}
		for i, r := range chunk {
			yes, err := show(r)
			if errors.Is(err, errPageFull) {
				return after, nil
			}
			if err != nil {
				return "", err
			}
			after = r.Key
			if yes {
				shown++
			}
			if shown == limit && (i+1 < len(chunk) || len(chunk) == size) {
				return after, nil
			}
		}
		if len(chunk) < size {
			return "", nil
		}
		looked += size
		size = min(2*size, pageChunk, max(pageLooks-looked, 1)) // where the list shows few of them
	}
	return after, nil
}
