package collection_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
)

// modelEntry is an entry of the model. The operation "recall" must find the entry until the entry
// expires.
type modelEntry struct {
	word, kind, author string
	end                time.Time // zero means never
}

// model contains the entries of all partitions. The keys of its maps are the name of the partition
// and the id of the entry.
type model map[string]map[string]modelEntry

// partitionOf returns the name of the partition that a call uses. If the caller has no partition,
// the result is "".
func partitionOf(c partition.Caller, collection, namespace string) string {
	owner := "app"
	if collection == "notes" || collection == "auto" && namespace != "" {
		if owner = "user/" + c.User; c.User == "" {
			return ""
		}
	}
	return strings.Join([]string{collection, owner, namespace}, " ")
}

// clone returns a deep copy of the model.
func (m model) clone() model {
	copied := model{}
	for name, entries := range m {
		copied[name] = maps.Clone(entries)
	}
	return copied
}

// erase removes all entries in the partitions of a user. erase also removes the user's entries from
// collections of the app, but not from the collection "kb".
func (m model) erase(user string) {
	for name, entries := range m {
		maps.DeleteFunc(entries, func(_ string, e modelEntry) bool {
			return strings.Contains(name, "user/"+user) || e.author == user && !strings.HasPrefix(name, "kb ")
		})
	}
}

// find searches a partition for live entries with a word and a kind, and returns their ids.
func (m model) find(name, word, kind string, now time.Time) string {
	var ids []string
	for id, e := range m[name] {
		if e.word == word && (kind == "" || e.kind == kind) && (e.end.IsZero() || now.Before(e.end)) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// machine executes random calls. machine compares the replies of the Service with the replies of
// the model.
type machine struct {
	*fixture
	stored model
	r      *rapid.T
}

var errUndone = errors.New("the run fails")

// TestModel executes random sequences of calls, failing runs, expiries and erasures.
func TestModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := &machine{fixture: open(t), stored: model{}, r: r}
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			switch rapid.IntRange(0, 9).Draw(r, "step") {
			case 0:
				m.now = m.now.Add(rapid.SampledFrom([]time.Duration{time.Second, 40 * time.Minute}).Draw(r, "passed"))
			case 1:
				m.erase(rapid.SampledFrom([]string{"ann", "bob"}).Draw(r, "erased"))
			default:
				m.transaction()
			}
		}
		m.checkAll()
	})
}

// erase erases a user. Then erase advances the clock, so that the mark of the erasure does not affect
// new runs.
func (m *machine) erase(user string) {
	if _, err := m.Erase(m.t.Context(), as(user)); err != nil {
		m.r.Fatal(err)
	}
	m.stored.erase(user)
	m.now = m.now.Add(time.Second)
}

// transaction executes several calls in one run. If the run fails, it stores nothing.
func (m *machine) transaction() {
	c := as(rapid.SampledFrom([]string{"ann", "bob", ""}).Draw(m.r, "user"))
	c.Run = fmt.Sprint("run_", rapid.Uint32().Draw(m.r, "run"))
	fails := rapid.IntRange(0, 4).Draw(m.r, "fails") == 0
	calls := rapid.IntRange(1, 6).Draw(m.r, "calls")
	before := m.stored.clone()
	_, err := m.Transact(m.t.Context(), &memory.Tx{Caller: c, Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
		for range calls {
			m.call(ctx, v)
		}
		if fails {
			return errUndone
		}
		return nil
	})
	if fails {
		m.stored = before
	} else if err != nil {
		m.r.Fatal(err)
	}
}

// call executes a random call in a run.
func (m *machine) call(ctx context.Context, v *memory.View) {
	r := m.r
	collection := rapid.SampledFrom([]string{"notes", "kb", "tips", "auto"}).Draw(r, "collection")
	namespace := rapid.SampledFrom([]string{"", "n"}).Draw(r, "namespace")
	name := partitionOf(v.Caller(), collection, namespace)
	id := fmt.Sprint(rapid.IntRange(1, 4).Draw(r, "id"))
	word := rapid.SampledFrom([]string{"tea", "coffee"}).Draw(r, "word")
	kind := rapid.SampledFrom([]string{"a", "b"}).Draw(r, "kind")
	do := func(op, args, want string) {
		args = fmt.Sprintf(`"%s", %s`, collection, args)
		got := m.text(v.Call(ctx, m.operation(op, args)))
		if name == "" {
			want = "no_user: "
		}
		if op == abi.Recall && name != "" {
			got = sorted(m.ids(got))
			if got != want {
				r.Fatalf("%s(%s) as %q found %q; want %q", op, args, v.Caller().User, got, want)
			}
			return
		}
		if !strings.HasPrefix(got, want) {
			r.Fatalf("%s(%s) as %q = %s; want %s", op, args, v.Caller().User, got, want)
		}
	}
	switch rapid.IntRange(0, 5).Draw(r, "op") {
	case 0, 1:
		e, ttl := modelEntry{word: word, kind: kind, author: v.Caller().User}, "null"
		if rapid.Bool().Draw(r, "ttl") {
			e.end, ttl = v.Now().Add(30*time.Minute), `"30m"`
		}
		do(abi.Remember, fmt.Sprintf(`"a text about %s", {"id": "%s", "namespace": "%s", "ttl": %s, "metadata": {"kind": "%s"}}`, word, id, namespace, ttl, kind), `{"success":true`)
		if name != "" {
			if m.stored[name] == nil {
				m.stored[name] = map[string]modelEntry{}
			}
			m.stored[name][id] = e
		}
	case 2:
		do(abi.Forget, fmt.Sprintf(`{"id": "%s", "namespace": "%s"}`, id, namespace), `{"count":`)
		delete(m.stored[name], id)
	case 3:
		selector, matches := fmt.Sprintf(`{"filter": {"kind": "%s"}, "namespace": "%s"}`, kind, namespace), func(e modelEntry) bool { return e.kind == kind }
		if rapid.Bool().Draw(r, "all") {
			selector, matches = fmt.Sprintf(`{"all": true, "namespace": "%s"}`, namespace), func(modelEntry) bool { return true }
		}
		count := 0
		for _, e := range m.stored[name] {
			if matches(e) && (e.end.IsZero() || v.Now().Before(e.end)) {
				count++
			}
		}
		do(abi.Forget, selector, fmt.Sprintf(`{"count":%d,`, count))
		maps.DeleteFunc(m.stored[name], func(_ string, e modelEntry) bool { return matches(e) })
	default:
		filter := rapid.SampledFrom([]string{"", kind}).Draw(r, "filter")
		options := fmt.Sprintf(`"namespace": "%s", "mode": "%s", "limit": 100, "threshold": 0.4`, namespace, rapid.SampledFrom([]string{"vector", "hybrid"}).Draw(r, "mode"))
		if filter != "" {
			options += fmt.Sprintf(`, "filter": {"kind": "%s"}`, filter)
		}
		do(abi.Recall, fmt.Sprintf(`"%s", {%s}`, word, options), m.stored.find(name, word, filter, v.Now()))
	}
}

// checkAll searches every partition for every word.
func (m *machine) checkAll() {
	for _, user := range []string{"ann", "bob", ""} {
		for _, collection := range []string{"notes", "kb", "tips", "auto"} {
			for _, namespace := range []string{"", "n", "other"} {
				name := partitionOf(as(user), collection, namespace)
				for _, word := range []string{"tea", "coffee"} {
					args := fmt.Sprintf(`"%s", "%s", {"namespace": "%s", "threshold": 0.4}`, collection, word, namespace)
					if got, want := sorted(m.recall(as(user), args)), m.stored.find(name, word, "", m.now); name != "" && got != want {
						m.r.Fatalf("at the end, recall(%s) as %q found %q; want %q", args, user, got, want)
					}
				}
			}
		}
	}
}

// sorted returns the words of a text in alphabetical order.
func sorted(text string) string {
	words := strings.Fields(text)
	slices.Sort(words)
	return strings.Join(words, " ")
}
