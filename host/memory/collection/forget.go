package collection

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage"
)

// These constants limit one call of "forget".
const (
	// MaxForgotten is the maximum number of entries that one call removes. maxForgottenBytes is the
	// maximum total size of the contents of these entries.
	MaxForgotten      = 500
	maxForgottenBytes = 4 << 20
	// maxVisited is the maximum number of entries that one call compares with its filter.
	maxVisited = 200_000
	// visitedPage is the number of entries that a call reads at once.
	visitedPage = 64
)

// A selector selects the entries that a call of "forget" removes.
type selector struct {
	namespace string
	id        string
	filter    index.Filter
}

// forget performs the operation "forget". forget reads each entry again before it removes the
// entry. forget adds removed entries to the read set. forget does not add other entries to the read
// set.
func (st *store) forget(ctx context.Context, p kind.NamespacedPartition, text json.RawMessage) (json.RawMessage, error) {
	s, err := readSelector(text)
	if err != nil {
		return nil, err
	}
	space, err := p.Namespace(s.namespace)
	if err != nil {
		return nil, err
	}
	f := forgetting{space: space, filter: s.filter}
	if s.id != "" {
		err = f.try(ctx, s.id)
	} else {
		err = f.all(ctx)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Count int  `json:"count"`
		More  bool `json:"more"`
	}{f.count, f.more})
}

// readSelector checks and decodes the argument of "forget".
func readSelector(text json.RawMessage) (s selector, err error) {
	const hint = "pass {id: ID}, {filter: {NAME: VALUE}}, {namespace: NAME} or {all: true}"
	o, err := readOptions(text, "selector", "id", "filter", "namespace", "all")
	if err != nil {
		return s, err
	}
	if err := checkPresent(text, "id", "filter", "all"); err != nil {
		return s, err
	}
	all := false
	if err := o.readAll(map[string]kind.Option{
		"id": nameOption(&s.id, false), "namespace": nameOption(&s.namespace, true), "all": kind.BoolOption(&all),
	}, "id", "namespace", "all"); err != nil {
		return s, err
	}
	filter, filtered := o["filter"]
	selectors := 0
	for _, used := range []bool{s.id != "", filtered, all} {
		if used {
			selectors++
		}
	}
	switch {
	case selectors == 0 && s.namespace == "":
		return s, abi.Faultf(abi.InvalidArgument, "the selector selects no entries").WithHint(hint)
	case filtered && isEmpty(o["filter"]):
		return s, abi.Faultf(abi.InvalidArgument, "the filter of the selector is empty").WithHint("pass {all: true} to remove all entries")
	case selectors > 1:
		return s, abi.Faultf(abi.InvalidArgument, "the selector contains more than one of the members `id`, `filter` and `all`").WithHint(hint)
	case filtered:
		s.filter, err = index.ParseFilter(filter)
	}
	return s, err
}

// checkPresent returns a fault if a member of a selector is null. If null members were ignored, the
// selector would select more entries than the tool intended. For example, the id is null if the
// tool copied it from an object that has no id.
func checkPresent(selector json.RawMessage, names ...string) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(selector, &members) != nil {
		return nil // the selector is absent
	}
	for _, name := range names {
		if value, ok := members[name]; ok && kind.IsAbsent(value) {
			return abi.Faultf(abi.InvalidArgument, "the member %q of the selector is null", name).WithHint("omit the member or pass a value")
		}
	}
	return nil
}

// isEmpty reports whether a value is an empty object.
func isEmpty(value json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(value, &members) == nil && len(members) == 0
}

// forgetting is the state of a call of "forget".
type forgetting struct {
	space        kind.Namespace
	filter       index.Filter
	count, bytes int
	more         bool
}

// full reports whether the call has removed the maximum number or the maximum total size of
// entries.
func (f *forgetting) full() bool { return f.count >= MaxForgotten || f.bytes >= maxForgottenBytes }

// The method "all" removes the entries that match the filter. The method first removes entries that
// the run has written. Then it removes stored entries.
func (f *forgetting) all(ctx context.Context) error {
	for _, w := range f.space.Written() {
		if err := f.visit(ctx, w.Record); err != nil || f.more {
			return err
		}
	}
	visited := 0
	for after := ""; ; {
		page, err := f.space.Stored(ctx, after, visitedPage)
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := f.visit(ctx, r); err != nil || f.more {
				return err
			}
			after = idOf(r.Key)
		}
		if visited += len(page); visited >= maxVisited {
			return abi.Faultf(abi.CallLimit, "forget compared %d entries with the filter and did not reach the end of the namespace", visited).
				WithHint("select entries by id, or divide the entries into namespaces")
		}
		if len(page) < visitedPage {
			return nil
		}
	}
}

// visit removes the entry in a record if the entry matches the filter.
func (f *forgetting) visit(ctx context.Context, r storage.Record) error {
	if !r.Exists() {
		return nil
	}
	if ok, err := f.matches(r); err != nil || !ok {
		return err
	}
	if f.full() {
		f.more = true
		return nil
	}
	return f.try(ctx, idOf(r.Key))
}

// The method try adds an entry to the read set, and removes the entry if it exists and matches the
// filter.
func (f *forgetting) try(ctx context.Context, id string) error {
	r, err := f.space.Get(ctx, id)
	if err != nil || !r.Exists() {
		return err
	}
	if ok, err := f.matches(r); err != nil || !ok {
		return err
	}
	f.count++
	f.bytes += len(r.Content)
	return f.space.Delete(ctx, id)
}

// matches reports whether the entry in a record matches the filter.
func (f *forgetting) matches(r storage.Record) (bool, error) {
	e, err := indexed(r, kind.SpaceID{}) // a filter ignores vectors
	return err == nil && f.filter.Matches(e.Metadata), err
}
