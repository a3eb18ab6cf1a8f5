package collection

import (
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
)

// unembedded is an entry that still needs a vector.
type unembedded struct {
	space kind.Namespace
	id    string
	ttl   time.Duration
	entry entry
}

// Complete implements kind.Completer. Complete computes all missing vectors in one batch. Complete
// reuses the vector of an entry's previous version if the run has read this version and if the text
// is unchanged.
func (st *store) Complete(ctx context.Context, spaces []kind.Namespace) error {
	var missing []unembedded
	var texts []string
	for _, space := range spaces {
		for _, w := range space.Written() {
			e, text, err := pendingEntry(w.Record)
			if err != nil {
				return err
			}
			if text == "" {
				continue
			}
			m := unembedded{space: space, id: idOf(w.Key), entry: e}
			if !w.Record.Expires.IsZero() {
				m.ttl = w.Record.Expires.Sub(space.Now())
			}
			if vector := sameVector(w.Stored, text, e.space); vector != nil {
				if err := m.complete(ctx, vector); err != nil {
					return err
				}
				continue
			}
			missing, texts = append(missing, m), append(texts, text)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	vectors, err := missing[0].space.Embed(ctx, st.collection.Embedding, texts, false)
	if errors.Is(err, kind.ErrNoVectors) {
		return nil // a dry run stores nothing
	}
	if err != nil {
		return err
	}
	for i, m := range missing {
		if err := m.complete(ctx, encodeVector(vectors[i])); err != nil {
			return err
		}
	}
	return nil
}

// complete stores the entry with its vector.
func (m unembedded) complete(ctx context.Context, vector []byte) error {
	m.entry.vector, m.entry.state = vector, complete
	_, err := put(ctx, m.space, m.id, m.ttl, m.entry)
	return err
}

// pendingEntry returns the entry that a record contains. pendingEntry also returns the text that
// represents the entry in searches. If the record contains no entry, or if the entry has a vector,
// the text is "".
func pendingEntry(r storage.Record) (e entry, text string, err error) {
	if !r.Exists() {
		return e, "", nil
	}
	if e, err = decode(r.Content); err != nil || e.state == complete {
		return e, "", err
	}
	s, err := e.stored()
	return e, searchText(s.Content), err
}

// sameVector returns the vector of a committed entry. The entry must have the given search text,
// and its vector must belong to the given vector space. Otherwise it returns nil.
func sameVector(r storage.Record, text string, space kind.SpaceID) []byte {
	if !r.Exists() {
		return nil
	}
	e, err := decode(r.Content)
	if err != nil || e.state != complete || e.space != space {
		return nil
	}
	if s, err := e.stored(); err != nil || searchText(s.Content) != text {
		return nil
	}
	return e.vector
}
