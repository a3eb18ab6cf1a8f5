package collection

import (
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/host/memory/kind"
)

// unembedded is an entry whose vector is missing.
type unembedded struct {
	space kind.Namespace
	id    string
	ttl   time.Duration
	entry entry
}

// Complete implements kind.Completer: it makes the missing vectors of all entries in one batch.
func (st *store) Complete(ctx context.Context, spaces []kind.Namespace) error {
	var missing []unembedded
	var texts []string
	for _, space := range spaces {
		for _, w := range space.Written() {
			if !w.Record.Exists() {
				continue
			}
			e, err := decode(w.Record.Content)
			if err != nil {
				return err
			}
			if e.state == complete {
				continue
			}
			s, err := e.stored()
			if err != nil {
				return err
			}
			ttl := time.Duration(0)
			if !w.Record.Expires.IsZero() {
				ttl = w.Record.Expires.Sub(space.Now())
			}
			missing, texts = append(missing, unembedded{space, idOf(w.Key), ttl, e}), append(texts, searchText(s.Content))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	vectors, err := missing[0].space.Embed(ctx, st.collection.Embedding, texts, false)
	if errors.Is(err, kind.ErrNoVectors) {
		return nil // a dry run, which stores nothing
	}
	if err != nil {
		return err
	}
	for i, m := range missing {
		m.entry.vector, m.entry.state = encodeVector(vectors[i]), complete
		if _, err := put(ctx, m.space, m.id, m.ttl, m.entry); err != nil {
			return err
		}
	}
	return nil
}
