package collection

import (
	"fmt"

	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
)

// TextToMove returns the text of a stored entry for an embedder. If the entry already has a vector
// in the given vector space, the result is "".
func TextToMove(r storage.Record, space kind.SpaceID) (string, error) {
	e, err := decode(r.Content)
	if err == nil && e.state == complete && e.space == space {
		return "", nil
	}
	if err == nil {
		var s stored
		if s, err = e.stored(); err == nil {
			return searchText(s.Content), nil
		}
	}
	return "", fmt.Errorf("record %s: %w: %w", r.Key, storage.ErrCorrupt, err)
}

// WithVector replaces the vector in the content of a stored entry and returns the new content. The
// new vector can belong to another vector space.
func WithVector(content []byte, space kind.SpaceID, vector []float32) ([]byte, error) {
	e, err := decode(content)
	if err != nil {
		return nil, err
	}
	return entry{text: e.text, vector: encodeVector(vector), space: space, state: complete}.encode(), nil
}
