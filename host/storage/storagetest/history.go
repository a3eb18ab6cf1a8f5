package storagetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolrun/toolrun/host/storage"
)

// testHistories applies random operations to a backend and to a map. After every operation,
// testHistories compares the backend with the map.
func testHistories(t *testing.T, open func(t *testing.T) storage.Backend) {
	rapid.Check(t, func(rt *rapid.T) {
		b := open(t)
		defer b.Close()
		m := &model{b: b, records: make(map[storage.Key]storage.Record), followed: make(map[storage.Key]storage.Version)}
		m.observe(rt)
		m.next = m.past[0].at
		rt.Repeat(map[string]func(*rapid.T){
			"update": m.update,
			"reject": m.reject,
			"spend":  m.spend,
			"scan":   m.scan,
			"delete": m.delete,
			"sweep":  m.sweep,
			"hold":   m.hold,
			"follow": m.follow,
			"":       m.check,
		})
	})
}

var (
	modelKeys = []storage.Key{
		app("a", store("s")), app("a", user("u"), store("s")), app("a", user("u"), store("ss")), app("a", user("uu"), store("s")),
		app("aa", store("s")), storage.MakeKey(storage.Part{Tag: storage.System, Value: "run"}, user("u")),
	}
	modelPrefixes = []storage.Key{"", app("a"), app("aa"), app("a", user("u")), app("b"), modelKeys[5]}
	modelTags     = []string{"e", "ee", "f"}
)

// model contains a backend and the expected content of the backend.
type model struct {
	b       storage.Backend
	records map[storage.Key]storage.Record
	// past contains earlier states of the backend.
	past []state
	// followed is a replica of the backend. The field "next" is the position from which the replica
	// continues.
	followed map[storage.Key]storage.Version
	next     storage.Position
}

// state is the content of the backend at a position.
type state struct {
	at      storage.Position
	records []storage.Record // the records in the order of keys
}

// observe appends the current state to past.
func (m *model) observe(t *rapid.T) {
	_, at := read(t, m.b, storage.Held{})
	m.past = append(m.past, state{at, m.sorted()})
}

// seenIn returns the versions of the records in a range.
func seenIn(records []storage.Record, g storage.Range) (seen []storage.Version) {
	for _, r := range records {
		if g.Contains(r.Key) {
			seen = append(seen, r.Version())
		}
	}
	return seen
}

// hold creates a Held with versions and ranges of a past state, and checks whether the backend
// detects changes since the past state. If the Held is padded, it is so large that a backend uses
// its history and does not compare all observations.
func (m *model) hold(t *rapid.T) {
	was, now := rapid.SampledFrom(m.past).Draw(t, "past"), m.sorted()
	held, changed := storage.Held{Since: was.at}, false
	for _, k := range rapid.SliceOfDistinct(rapid.SampledFrom(modelKeys), rapid.ID[storage.Key]).Draw(t, "held") {
		then := storage.VersionOf(k, recordOf(was.records, k))
		held.Versions = append(held.Versions, then)
		changed = changed || then != storage.VersionOf(k, recordOf(now, k))
	}
	for range rapid.IntRange(0, 2).Draw(t, "ranges") {
		g := storage.Range{Prefix: rapid.SampledFrom(modelPrefixes).Draw(t, "prefix")}
		g.After = rapid.SampledFrom(append([]storage.Key{""}, modelKeys...)).Draw(t, "after")
		g.Last = rapid.SampledFrom(append([]storage.Key{""}, modelKeys...)).Draw(t, "last")
		g.Seen = seenIn(was.records, g)
		held.Ranges = append(held.Ranges, g)
		changed = changed || !slices.Equal(g.Seen, seenIn(now, g))
	}
	if rapid.Bool().Draw(t, "padding") {
		for i := range 40 {
			held.Versions = append(held.Versions, storage.Version{Key: app("padding", store(fmt.Sprint("s", i)))})
		}
	}
	checkHeld(t, m.b, "held", held, changed)
}

func recordOf(records []storage.Record, k storage.Key) storage.Record {
	for _, r := range records {
		if r.Key == k {
			return r
		}
	}
	return storage.Record{}
}

// follow applies the latest changes to the replica.
func (m *model) follow(t *rapid.T) {
	page, next := changes(t, m.b, "", m.next, rapid.IntRange(1, 5).Draw(t, "limit"))
	follow(m.followed, page)
	m.next = next
	want := map[storage.Key]storage.Version{}
	for k, r := range m.records {
		want[k] = r.Version()
	}
	if !maps.Equal(m.followed, want) {
		t.Fatalf("the replica has %v; want %v", m.followed, want)
	}
}

func (m *model) drawRecord(t *rapid.T, k storage.Key) storage.Record {
	r := record(k, m.records[k].Revision+1, rapid.StringN(0, 40, -1).Draw(t, "content"))
	r = withTags(r, rapid.SliceOfDistinct(rapid.SampledFrom(modelTags), rapid.ID[string]).Draw(t, "tags")...)
	if in := rapid.IntRange(0, 5).Draw(t, "expires"); in > 0 {
		r.Expires = epoch.Add(time.Duration(in) * time.Second)
	}
	return r
}

// drawWrites generates random keys, and random writes for some of the keys.
func (m *model) drawWrites(t *rapid.T) (keys []storage.Key, writes []storage.Write) {
	keys = rapid.SliceOfNDistinct(rapid.SampledFrom(modelKeys), 1, 4, rapid.ID[storage.Key]).Draw(t, "keys")
	for _, k := range keys {
		switch rapid.IntRange(0, 4).Draw(t, "write") {
		case 0: // none
		case 1:
			writes = append(writes, storage.Write{Record: storage.Record{Key: k}, Delete: true})
		default:
			writes = append(writes, storage.Write{Record: m.drawRecord(t, k)})
		}
	}
	return keys, writes
}

func (m *model) update(t *rapid.T) {
	keys, writes := m.drawWrites(t)
	must(t, m.b.Update(context.Background(), storage.Keys(keys...), func(now []storage.Record) ([]storage.Write, error) {
		for i, k := range keys {
			same(t, "the records that the function got", now[i:i+1], []storage.Record{m.records[k]})
		}
		return writes, nil
	}))
	for _, w := range writes {
		if w.Delete {
			delete(m.records, w.Record.Key)
		} else {
			m.records[w.Record.Key] = w.Record
		}
	}
}

// spend writes records of one user within a budget, and compares the result with the model.
func (m *model) spend(t *rapid.T) {
	budget := storage.Budget{App: storage.Limit{Account: app("a")}, User: storage.Limit{Account: storage.UserAccount(app("a"), "u")}}
	limits := []*storage.Limit{&budget.App, &budget.User}
	for _, l := range limits {
		l.Max = storage.Usage{Records: rapid.Int64Range(0, 4).Draw(t, "records"), Bytes: rapid.Int64Range(0, 200).Draw(t, "bytes")}
	}
	after := maps.Clone(m.records)
	var writes []storage.Write
	for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom(modelKeys[:3]), 1, 3, rapid.ID[storage.Key]).Draw(t, "keys") {
		if rapid.Bool().Draw(t, "delete") {
			delete(after, k)
			writes = append(writes, storage.Write{Record: storage.Record{Key: k}, Delete: true})
			continue
		}
		after[k] = m.drawRecord(t, k)
		writes = append(writes, storage.Write{Record: after[k]})
	}
	over := false
	for _, l := range limits {
		was, is := sumOf(m.records, l.Account), sumOf(after, l.Account)
		over = over || l.Max.Records > 0 && is.Records > max(was.Records, l.Max.Records) || l.Max.Bytes > 0 && is.Bytes > max(was.Bytes, l.Max.Bytes)
	}
	err := putWithin(m.b, budget, writes...)
	if _, rejected := errors.AsType[*storage.OverBudgetError](err); rejected != over || err != nil && !rejected {
		t.Fatalf("Update within %+v = %v; want it to be over budget: %v", budget, err, over)
	}
	if !over {
		m.records = after
	}
}

// sumOf computes the usage of an account from records.
func sumOf(records map[storage.Key]storage.Record, account storage.Key) (sum storage.Usage) {
	for _, r := range records {
		if slices.Contains(r.Accounts(), account) {
			sum = sum.Plus(storage.UsageOf(storage.HeadOf(r)))
		}
	}
	return sum
}

func (m *model) reject(t *rapid.T) {
	keys, writes := m.drawWrites(t)
	rejected := errors.New("rejected")
	err := m.b.Update(context.Background(), storage.Keys(keys...), func([]storage.Record) ([]storage.Write, error) { return writes, rejected })
	if err != rejected {
		t.Fatalf("Update = %v; want the function's error", err)
	}
}

func (m *model) scan(t *rapid.T) {
	prefix := rapid.SampledFrom(modelPrefixes).Draw(t, "prefix")
	after := rapid.SampledFrom(append([]storage.Key{""}, modelKeys...)).Draw(t, "after")
	limit := rapid.IntRange(1, 8).Draw(t, "limit")
	got, err := m.b.Scan(context.Background(), prefix, after, limit)
	must(t, err)
	var want []storage.Record
	for _, r := range m.sorted() {
		if r.Key.HasPrefix(prefix) && r.Key > after && len(want) < limit {
			want = append(want, r)
		}
	}
	same(t, "Scan", got, want)
	heads, err := m.b.Heads(context.Background(), prefix, after, limit)
	must(t, err)
	sameHeads(t, "Heads", heads, want)
}

func (m *model) delete(t *rapid.T) {
	what := storage.Selector{Prefix: rapid.SampledFrom(modelPrefixes).Draw(t, "prefix")}
	if what.Tag = rapid.SampledFrom(append([]string{""}, modelTags...)).Draw(t, "tag"); what.Tag != "" {
		what.Group = rapid.SampledFrom([]storage.Key{"", app("a"), app("aa"), app("b")}).Draw(t, "group")
		m.scanTag(t, what)
	}
	if what.Check(1) != nil {
		return
	}
	m.remove(t, what.Matches, deleting(m.b, what))
}

func (m *model) scanTag(t *rapid.T, what storage.Selector) {
	after := rapid.SampledFrom(append([]storage.Key{""}, modelKeys...)).Draw(t, "after")
	limit := rapid.IntRange(1, 8).Draw(t, "limit")
	got, err := m.b.ScanTag(context.Background(), what, after, limit)
	must(t, err)
	var want []storage.Record
	for _, r := range m.sorted() {
		if what.Matches(r) && r.Key > after && len(want) < limit {
			want = append(want, r)
		}
	}
	sameHeads(t, "ScanTag", got, want)
}

func (m *model) sweep(t *rapid.T) {
	what := storage.Selector{Expired: epoch.Add(time.Duration(rapid.IntRange(0, 6).Draw(t, "at")) * time.Second)}
	what.Group = rapid.SampledFrom([]storage.Key{"", app("a"), app("b")}).Draw(t, "group")
	m.remove(t, what.Matches, deleting(m.b, what))
}

// remove checks that the backend removes as many matching records as the limit allows, and no other
// records. The backend may choose which of the matching records are removed.
func (m *model) remove(t *rapid.T, match func(storage.Record) bool, remove func(limit int) (int, error)) {
	limit := rapid.IntRange(1, 4).Draw(t, "limit")
	removed, err := remove(limit)
	must(t, err)
	left := make(map[storage.Key]bool)
	for _, r := range all(t, m.b, "") {
		left[r.Key] = true
	}
	matching, missing := 0, 0
	for k, r := range m.records {
		if match(r) {
			matching++
			if !left[k] {
				missing++
				delete(m.records, k)
			}
		}
	}
	if want := min(limit, matching); removed != want || missing != want {
		t.Fatalf("reported %d and removed %d of %d records with limit %d; want %d", removed, missing, matching, limit, want)
	}
}

func (m *model) check(t *rapid.T) {
	same(t, "the stored records", all(t, m.b, ""), m.sorted())
	checkUsage(t, m.b, app("a"), app("aa"), storage.UserAccount(app("a"), "u"))
	m.observe(t)
	for _, k := range modelKeys {
		same(t, fmt.Sprint("Get ", k), get(t, m.b, k), []storage.Record{m.records[k]})
	}
}

func (m *model) sorted() []storage.Record {
	records := make([]storage.Record, 0, len(m.records))
	for _, k := range slices.Sorted(maps.Keys(m.records)) {
		records = append(records, m.records[k])
	}
	return records
}
