package records

import (
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

const (
	// pageLooks bounds how many records one page of a list looks at, and pageChunk how many at a time.
	pageLooks = 2000
	pageChunk = 250
	// PageBytes bounds the contents that one page reads, unless one record has more.
	PageBytes = 1 << 20
)

// ErrPageFull ends a page before the record that it is returned for.
var ErrPageFull = errors.New("the page is full")

// PageContents counts the contents that a page has read. The zero value is an empty page.
type PageContents struct{ bytes int64 }

// Fits reports whether a page has room for a content of a size. An empty page always does.
func (p *PageContents) Fits(bytes int64) bool { return p.bytes == 0 || p.bytes+bytes <= PageBytes }

// Add counts a content if it fits, and reports whether it does.
func (p *PageContents) Add(bytes int64) bool {
	if !p.Fits(bytes) {
		return false
	}
	p.bytes += bytes
	return true
}

// Page calls show with the records of chunks, in the order of their keys, until it showed limit of them or show returned
// ErrPageFull. It returns the key after which the next page begins, "" if there is none.
func Page(chunks func(after storage.Key, limit int) ([]storage.Head, error), after storage.Key, limit int, show func(storage.Head) (bool, error)) (storage.Key, error) {
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
		size = min(2*size, pageChunk, max(pageLooks-looked, 1)) // for lists that show few of the records
	}
	return after, nil
}
