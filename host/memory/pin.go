package memory

import (
	"encoding/json"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
)

// pin is the stored form of the vector space of a collection.
type pin struct {
	Embedder string `json:"embedder"`
	Dim      int    `json:"dimension"`
	// MovingTo is the vector space to which the entries are being moved, or nil if no move is in
	// progress. During a move, the vectors of new entries belong to the space MovingTo.
	MovingTo *pin `json:"moving_to,omitempty"`
	// Maker identifies the user whose run created the collection, if the collection is undeclared;
	// see makerOf.
	Maker string `json:"maker,omitempty"`
}

func pinOf(s kind.VectorSpace) pin { return pin{Embedder: s.Embedder, Dim: s.Dim} }

func (p pin) space() kind.VectorSpace { return kind.VectorSpace{Embedder: p.Embedder, Dim: p.Dim} }

// String describes the space.
func (p pin) String() string {
	return fmt.Sprintf("%s (%d dimensions)", kind.Quote(p.Embedder), p.Dim)
}

// pinIn decodes the pin in a record.
func pinIn(r storage.Record) (p pin, err error) {
	if err := json.Unmarshal(r.Content, &p); err != nil {
		return p, fmt.Errorf("record %s: %w: %w", r.Key, storage.ErrCorrupt, err)
	}
	return p, nil
}

// check returns a fault if a run with the given embedder cannot use the collection. During a move
// of the entries, a run with the previous embedder can search, but not write.
func (p pin) check(is kind.VectorSpace, collection string, write bool) error {
	switch {
	case p.MovingTo == nil && p.space() == is, p.MovingTo != nil && p.MovingTo.space() == is, p.MovingTo != nil && !write && p.space() == is:
		return nil
	case p.MovingTo != nil:
		return abi.Faultf(abi.Unavailable, "the entries of the collection %q are being moved from %s to %s, but the embedding model of this run is %s",
			collection, p, p.MovingTo, pinOf(is)).
			WithHint("use the same models in all processes, or move the entries to this model with `toolrun collection reembed %s`", collection)
	}
	return abi.Faultf(abi.Unavailable, "the vectors of the collection %q are from the model %s, but the embedding model of the collection is now %s", collection, p, pinOf(is)).
		WithHint("restore the previous model, or move the entries to the new model with `toolrun collection reembed %s`", collection)
}
