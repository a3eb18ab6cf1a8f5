package records

import (
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

const (
	// pageLooks limits how many records one page of a list examines. pageChunk limits how many
	// records one read returns.
	pageLooks = 2000
	pageChunk = 250
	// PageBytes limits the total size of the contents of a page. If a single record is larger than
	// PageBytes, the page contains only this record.
	PageBytes = 1 << 20
)

// ErrPageFull means that a record does not fit on the page. The record belongs on the next page.
var ErrPageFull = errors.New("the page is full")

// PageContents counts the bytes of the contents on a page. The zero PageContents is an empty page.
type PageContents struct{ bytes int64 }

// Fits reports whether a content with the given size fits on the page. Every content fits on an
// empty page.
func (p *PageContents) Fits(bytes int64) bool { return p.bytes == 0 || p.bytes+bytes <= PageBytes }

// Add counts a content and returns true if the content fits on the page.
func (p *PageContents) Add(bytes int64) bool {
	if !p.Fits(bytes) {
		return false
	}
	p.bytes += bytes
	return true
}

// Page calls the function "show" with records. The records are in the order of their keys. Page
// ends when the function "show" has accepted "limit" records or has returned ErrPageFull. The
// function "chunks" returns the records that follow a key. Page returns the key after which the
// next page begins. If no page follows, Page returns "".
func Page(chunks func(after storage.Key, limit int) ([]storage.Head, error), after storage.Key, limit int, show func(storage.Head) (bool, error)) (storage.Key, error) {
	if limit < 1 {
		return "", abi.Faultf(abi.InvalidArgument, "the limit must be at least 1")
	}
	shown := 0
	size := min(limit, pageChunk-1) + 1 // one additional record shows whether another page follows
	for looked := 0; looked < pageLooks; {
		chunk, err := chunks(after, size)
		if err != nil {
			return "", err
		}
		for i, r := range chunk {
			yes, err := show(r)
			if errors.Is(err, ErrPageFull) {
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
		size = min(2*size, pageChunk, max(pageLooks-looked, 1)) // for lists that skip many records
	}
	return after, nil
}
