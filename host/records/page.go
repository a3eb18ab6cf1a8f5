package records

import (
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

const (
	// pageLooks is the maximum number of records that one page of a list examines. pageChunk is the
	// maximum number of records in one read.
	pageLooks = 2000
	pageChunk = 250
	// PageBytes bounds the contents that one page reads, unless a single record is larger.
	PageBytes = 1 << 20
)

// ErrPageFull means that a record does not fit on the page and belongs on the next page.
var ErrPageFull = errors.New("the page is full")

// PageContents counts the bytes of content on a page. The zero PageContents is an empty page.
type PageContents struct{ bytes int64 }

// Fits reports whether a content of the given size fits on the page. Every content fits on an empty
// page.
func (p *PageContents) Fits(bytes int64) bool { return p.bytes == 0 || p.bytes+bytes <= PageBytes }

// If a content fits on the page, Add counts the content and returns true.
func (p *PageContents) Add(bytes int64) bool {
	if !p.Fits(bytes) {
		return false
	}
	p.bytes += bytes
	return true
}

// Page calls the function "show" with records in the order of their keys. Page stops when "show"
// has accepted as many records as the argument "limit" allows, or has returned ErrPageFull. The
// function "chunks" returns the records after a key. Page returns the key after which the next page
// begins, or "" if there is no next page.
func Page(chunks func(after storage.Key, limit int) ([]storage.Head, error), after storage.Key, limit int, show func(storage.Head) (bool, error)) (storage.Key, error) {
	if limit < 1 {
		return "", abi.Faultf(abi.InvalidArgument, "the limit must be at least 1")
	}
	shown := 0
	size := min(limit, pageChunk-1) + 1 // one more record, to find out whether there is a next page
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
		size = min(2*size, pageChunk, max(pageLooks-looked, 1)) // the larger chunk is for lists that skip many records
	}
	return after, nil
}
