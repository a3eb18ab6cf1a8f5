package collection

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/model/lexical"
	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage"
)

// Limits of recall.
const (
	// DefaultLimit is the default of the option "limit", which is the maximum number of results.
	// MaxLimit is the largest value of this option.
	DefaultLimit = 10
	MaxLimit     = 1000
	// MaxQueryBytes is the maximum size of a query.
	MaxQueryBytes = 64 << 10
	// maxDropped is the maximum number of dropped entries in one call. A call drops a proposed
	// entry if the entry is not visible to the run. After the call has dropped maxDropped entries,
	// it ends the search. Therefore the entries that the call reads do not exceed the limits of a
	// transaction.
	maxDropped = 2 * MaxLimit
)

// query is a call of "recall".
type query struct {
	index.Query
	vectors   kind.SpaceID // the vector space of the query and the entries
	namespace string
	scores    bool
}

// result is an entry that a call of "recall" has found.
type result struct {
	ID       string          `json:"id"`
	Content  json.RawMessage `json:"content"`
	Metadata json.RawMessage `json:"metadata"`
	Score    float64         `json:"score"`
	Vector   *float64        `json:"vector,omitempty"`
	Text     *float64        `json:"text,omitempty"`
}

// recall performs recall. The results are not added to the read set. Therefore the run can commit
// even if the namespace has changed.
func (st *store) recall(ctx context.Context, p kind.NamespacedPartition, text, options json.RawMessage) (json.RawMessage, error) {
	q, err := st.readQuery(text, options)
	if err != nil {
		return nil, err
	}
	space, err := p.Namespace(q.namespace)
	if err != nil {
		return nil, err
	}
	if reply, err := space.Mock(); reply != nil || err != nil {
		return reply, err
	}
	found, err := st.search(ctx, space, q)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Results []result `json:"results"`
		Count   int      `json:"count"`
	}{found, len(found)})
}

// search returns the entries of a namespace that match a query. The best entry is the first result.
// If the collection has never had an entry, the method does not compute the vector of the query.
func (st *store) search(ctx context.Context, space kind.Namespace, q query) ([]result, error) {
	vectors, err := space.Pin(ctx, st.collection.Embedding, false)
	if err != nil || vectors.Dim == 0 {
		return []result{}, err
	}
	q.vectors = vectors.ID()
	q.Space = string(q.vectors[:])
	if err := st.Complete(ctx, []kind.Namespace{space}); err != nil {
		return nil, err
	}
	if err := st.embedQuery(ctx, space, &q); err != nil {
		return nil, err
	}
	q.Now = space.Now()
	for _, w := range space.Written() {
		if err := st.replace(&q, w.Key, w.Record); err != nil {
			return nil, err
		}
	}
	return st.verified(ctx, space, q)
}

// embedQuery computes the vector of a query. A dry run without vectors compares only words. If the
// query requires vectors, a dry run without vectors returns an error.
func (st *store) embedQuery(ctx context.Context, space kind.Namespace, q *query) error {
	if q.Mode == index.Text {
		return nil
	}
	if st.collection.Embedding == declare.Lexical {
		q.VectorShare = lexical.VectorShare
	}
	vectors, err := space.Embed(ctx, st.collection.Embedding, []string{q.Text}, true)
	switch {
	case errors.Is(err, kind.ErrNoVectors) && q.Mode == index.Hybrid:
		q.Mode = index.Text
	case errors.Is(err, kind.ErrNoVectors):
		return abi.Faultf(abi.Unavailable, "a dry run does not call embedding models").
			WithHint("use --live to call the model, or use the mode \"text\" or \"hybrid\" to compare words")
	case err != nil:
		return err
	default:
		q.Vector = vectors[0]
	}
	return nil
}

// verified searches the index and then reads each proposed entry. The index and the run can have
// different versions of an entry. The version of the run is compared with the query. If proposed
// entries are not visible to the run, the method searches again. The next search omits these
// entries and requests more entries.
func (st *store) verified(ctx context.Context, space kind.Namespace, q query) ([]result, error) {
	wanted, dropped := q.Limit, 0
	for {
		hits, err := st.index.Search(ctx, space.Prefix(), st.decodeIn(q.vectors), q.Query)
		if err != nil {
			return nil, err
		}
		results, changed, err := st.check(ctx, space, &q, hits)
		if err != nil {
			return nil, err
		}
		if dropped += changed; changed == 0 || dropped >= maxDropped {
			return results[:min(wanted, len(results))], nil
		}
		q.Limit = min(4*q.Limit, MaxLimit)
	}
}

// check reads the proposed entries and returns a result for each entry that is visible to the run.
// check excludes the other entries from the next search and returns their number.
func (st *store) check(ctx context.Context, space kind.Namespace, q *query, hits []index.Hit) (results []result, changed int, err error) {
	keys := make([]storage.Key, len(hits))
	for i, h := range hits {
		keys[i] = h.Key
	}
	records, err := space.Peek(ctx, keys...)
	if err != nil {
		return nil, 0, err
	}
	results = make([]result, 0, len(hits))
	for i, h := range hits {
		if h.Own < 0 && (!records[i].Exists() || records[i].Revision != h.Revision) {
			changed++
			if err := st.replace(q, h.Key, records[i]); err != nil {
				return nil, 0, err
			}
			continue
		}
		r, err := resultOf(records[i], h, q.scores)
		if err != nil {
			return nil, 0, err
		}
		results = append(results, r)
	}
	return results, changed, nil
}

// replace changes a query so that it uses the record r instead of the committed entry with the
// given key. If r does not exist, the query ignores the entry.
func (st *store) replace(q *query, key storage.Key, r storage.Record) error {
	q.Hidden = append(q.Hidden, key)
	if !r.Exists() {
		return nil
	}
	own, err := st.indexed(r, q.vectors)
	if err == nil {
		q.Own = append(q.Own, own)
	}
	return err
}

// resultOf returns the result for a record. A search has found this record.
func resultOf(r storage.Record, h index.Hit, scores bool) (result, error) {
	e, err := decode(r.Content)
	if err != nil {
		return result{}, err
	}
	s, err := e.stored()
	if err != nil {
		return result{}, err
	}
	found := result{ID: idOf(r.Key), Content: s.Content, Metadata: s.Metadata, Score: h.Score}
	if len(found.Metadata) == 0 {
		found.Metadata = json.RawMessage("{}")
	}
	if scores {
		found.Vector, found.Text = &h.Vector, &h.Text
	}
	return found, nil
}

// idOf returns the id of an entry. The id is a part of the entry's key.
func idOf(key storage.Key) string { return key.Part(storage.Item) }

// readQuery checks and decodes the arguments of "recall".
func (st *store) readQuery(text, rest json.RawMessage) (query, error) {
	q := query{Query: index.Query{Limit: DefaultLimit, Mode: index.Hybrid, Language: st.collection.Language, Decoding: st.retention.String()}}
	if json.Unmarshal(text, &q.Text) != nil || strings.TrimSpace(q.Text) == "" {
		return q, abi.Faultf(abi.InvalidArgument, "the query must be a text that is not empty")
	}
	if len(q.Text) > MaxQueryBytes {
		return q, abi.Faultf(abi.TooLarge, "the query has %d bytes; the limit is %d", len(q.Text), MaxQueryBytes)
	}
	o, err := readOptions(rest, "options argument", "limit", "threshold", "filter", "namespace", "mode", "scores")
	if err != nil {
		return q, err
	}
	if err := o.readAll(map[string]kind.Option{
		"limit": kind.CountOption(&q.Limit, MaxLimit), "threshold": scoreOption(&q.Threshold), "namespace": nameOption(&q.namespace, true),
		"mode": modeOption(&q.Mode), "scores": kind.BoolOption(&q.scores),
	}, "limit", "threshold", "namespace", "mode", "scores"); err != nil {
		return q, err
	}
	if filter, ok := o["filter"]; ok {
		if q.Filter, err = index.ParseFilter(filter); err != nil {
			return q, err
		}
	}
	return q, nil
}

// modeOption returns an Option whose value is the mode of a search.
func modeOption(to *index.Mode) kind.Option {
	return func(v any) string {
		name, _ := v.(string)
		if *to = index.Mode(name); !slices.Contains(index.Modes(), *to) {
			return "hybrid, vector or text"
		}
		return ""
	}
}
