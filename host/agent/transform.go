package agent

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/report"
)

// transform creates an array from a source array. The method filters, maps and sorts the items, and
// then limits their number. If the source is not an array, the result is an empty array.
func (a *actions) transform(ctx context.Context, tr *abl.Transform) error {
	source, err := a.mem.eval(ctx, tr.Source)
	if err != nil {
		return err
	}
	items, ok := source.([]any)
	if !ok && source != nil {
		a.log.warnf(tr.Source.Position(), "the value of SOURCE is of the type %s, not an array", abl.TypeOf(source))
	}
	result := []any{}
	s := &itemScope{Scope: a.mem.scope(ctx), name: tr.As.Value}
	for _, item := range items {
		s.item = item
		mapped, keep, err := a.mapped(s, tr, item)
		if err != nil {
			return err
		}
		if keep {
			result = append(result, mapped)
		}
	}
	if tr.SortBy.Value != "" {
		a.mem.cost -= 30 * len(result) // the keys can be texts that contain numbers or dates
		sortItems(result, strings.Split(tr.SortBy.Value, "."), tr.Descending)
	}
	if result, err = a.limited(ctx, tr, result); err != nil {
		return err
	}
	if err := a.mem.assign(ctx, tr.Into, result); err != nil {
		return err
	}
	a.log.note(report.Trace{Kind: "transform", Name: tr.Into.Value, Position: a.log.place(tr.Position), Value: a.mem.shownJSON(tr.Into.Value, result)})
	return nil
}

// mapped returns an item after mapping. The second result reports whether the filter keeps the
// item.
func (a *actions) mapped(s abl.Scope, tr *abl.Transform, item any) (any, bool, error) {
	if a.mem.cost--; a.mem.cost < 0 {
		return nil, false, a.mem.located(abl.ErrCost, tr.Position)
	}
	if tr.Filter != nil {
		value, err := a.mem.evalIn(s, tr.Filter)
		if err != nil || !abl.IsTruthy(value) {
			return nil, false, err
		}
	}
	if len(tr.Map) == 0 {
		return item, true, nil
	}
	fields := make(map[string]any, len(tr.Map))
	for _, m := range tr.Map {
		value, err := a.mem.evalIn(s, m.Value)
		if err != nil {
			return nil, false, err
		}
		fields[m.Target.Value] = value
	}
	return fields, true, nil
}

// limited returns the first items of an array, up to the number in LIMIT. If the value of LIMIT is
// not a number, limited returns all items.
func (a *actions) limited(ctx context.Context, tr *abl.Transform, items []any) ([]any, error) {
	if tr.Limit == nil {
		return items, nil
	}
	value, err := a.mem.eval(ctx, tr.Limit)
	if err != nil {
		return nil, err
	}
	n, ok := abl.NumberOf(value)
	if !ok {
		a.log.warnf(tr.Limit.Position(), "the value of LIMIT is not a number and has no effect")
		return items, nil
	}
	n = math.Trunc(max(n, 0))
	if n >= float64(len(items)) {
		return items, nil
	}
	return items[:int(n)], nil
}

// itemScope is the scope in which TRANSFORM evaluates expressions for an item. itemScope resolves
// the name of the item. The outer scope resolves all other names.
type itemScope struct {
	abl.Scope
	name string
	item any
}

// Lookup implements abl.Scope.
func (s *itemScope) Lookup(path []string) (any, int, error) {
	if path[0] == s.name {
		return s.item, 1, nil
	}
	return s.Scope.Lookup(path)
}

// sortItems sorts items by the value of a member. Numbers sort before dates, and dates sort before
// other texts. If an item does not have the member, the item sorts last, in ascending and in
// descending order. If two items have equal members, they keep their order.
func sortItems(items []any, path []string, descending bool) {
	keys := make([]sortKey, len(items))
	for i, item := range items {
		keys[i] = newSortKey(item, path)
	}
	slices.SortStableFunc(keys, func(a, b sortKey) int {
		if a.rank != b.rank && (a.rank == rankUnset || b.rank == rankUnset) {
			return cmp.Compare(a.rank, b.rank)
		}
		order := cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.number, b.number), strings.Compare(a.text, b.text))
		if descending {
			return -order
		}
		return order
	})
	for i, key := range keys {
		items[i] = key.item
	}
}

// each type has a rank, which orders values of different types
const (
	rankNumber = iota
	rankDate
	rankText
	rankOther
	rankUnset
)

type sortKey struct {
	item   any
	rank   int
	number float64
	text   string
}

func newSortKey(item any, path []string) sortKey {
	value := item
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	key := sortKey{item: item, rank: rankOther}
	if n, ok := abl.NumberOf(value); ok {
		key.rank, key.number = rankNumber, n
		return key
	}
	if at, ok := abl.DateOf(value); ok {
		key.rank, key.number = rankDate, float64(at.UnixMilli())
		return key
	}
	if text, ok := value.(string); ok {
		key.rank, key.text = rankText, text
	}
	if value == nil {
		key.rank = rankUnset
	}
	return key
}
