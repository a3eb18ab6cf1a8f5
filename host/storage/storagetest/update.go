package storagetest

import (
	"context"
	"errors"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
)

func testUpdate(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	one, two, none := app("a", store("one")), app("a", store("two")), app("a", store("none"))
	put(t, b, record(one, 1, "1"), record(two, 1, "2"))

	var seen []storage.Record
	keys := []storage.Key{two, none, one}
	must(t, b.Update(ctx, storage.Keys(keys...), func(now []storage.Record) ([]storage.Write, error) {
		seen = now
		return []storage.Write{
			{Record: record(one, 2, "one")},
			{Record: storage.Record{Key: two}, Delete: true},
			{Record: storage.Record{Key: none}, Delete: true},
		}, nil
	}))
	same(t, "the records that the function got", seen, []storage.Record{record(two, 1, "2"), {}, record(one, 1, "1")})
	same(t, "the records after an update", all(t, b, ""), []storage.Record{record(one, 2, "one")})
	checkUsage(t, b, app("a"))

	must(t, b.Update(ctx, storage.Keys(one), func([]storage.Record) ([]storage.Write, error) { return nil, nil }))
	must(t, b.Update(ctx, storage.Footprint{}, func([]storage.Record) ([]storage.Write, error) { return nil, nil }))
	same(t, "the records after an update without writes", all(t, b, ""), []storage.Record{record(one, 2, "one")})
	system := storage.MakeKey(storage.Part{Tag: storage.System, Value: "session"}, storage.Part{Tag: storage.Tenant, Value: "acme"})
	put(t, b, record(system, 1, "x"))
	checkUsage(t, b, app("a"))
}

func testRejectedWrites(t *testing.T, b storage.Backend) {
	k, other := app("a", store("s")), app("a", store("t"))
	was := record(k, 1, "1")
	put(t, b, was)
	with := func(change func(r *storage.Record)) storage.Write {
		r := record(k, 2, "2")
		change(&r)
		return storage.Write{Record: r}
	}
	long := app("a", store(string(make([]byte, storage.MaxKeyBytes))))
	for name, bad := range map[string][]storage.Write{
		"outside keys":        {{Record: record(app("a", store("u")), 1, "")}},
		"delete outside keys": {{Record: storage.Record{Key: app("a", store("u"))}, Delete: true}},
		"same key twice":      {{Record: record(k, 2, "")}, {Record: record(k, 3, "")}},
		"floor":               {{Record: record(storage.FloorKey(k), 2, "{}")}},
		"delete of a floor":   {{Record: storage.Record{Key: storage.FloorKey(k)}, Delete: true}},
		"malformed key":       {{Record: record("no key", 1, "")}},
		"empty key":           {{Record: record("", 1, "")}},
		"long key":            {{Record: record(long, 1, "")}},
		"large content":       {{Record: record(k, 2, string(make([]byte, storage.MaxContentBytes+1)))}},
		"no revision":         {with(func(r *storage.Record) { r.Revision = 0 })},
		"negative revision":   {with(func(r *storage.Record) { r.Revision = -1 })},
		"empty tag":           {with(func(r *storage.Record) { r.Tags = []string{""} })},
		"duplicate tag":       {with(func(r *storage.Record) { r.Tags = []string{"e", "f", "e"} })},
		"long tag":            {with(func(r *storage.Record) { r.Tags = []string{string(make([]byte, storage.MaxTagBytes+1))} })},
	} {
		t.Run(name, func(t *testing.T) {
			keys := []storage.Key{other, k, storage.FloorKey(k), "no key", "", long}
			err := b.Update(context.Background(), storage.Keys(keys...), func([]storage.Record) ([]storage.Write, error) {
				return append([]storage.Write{{Record: record(other, 1, "good")}}, bad...), nil
			})
			if err == nil || errors.Is(err, storage.ErrUnknownOutcome) {
				t.Errorf("Update = %v; want a plain error", err)
			}
			same(t, "the stored records", all(t, b, ""), []storage.Record{was})
			checkUsage(t, b, app("a"))
		})
	}
}

func testFunctionFails(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	k := app("a", store("s"))
	was := record(k, 1, "1")
	put(t, b, was)

	mine := errors.New("mine")
	err := b.Update(ctx, storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: record(k, 2, "2")}}, mine
	})
	if err != mine {
		t.Errorf("Update = %v; want the function's own error", err)
	}
	err = b.Update(ctx, storage.Keys(k), func([]storage.Record) ([]storage.Write, error) { panic("oh") })
	if err == nil || errors.Is(err, storage.ErrUnknownOutcome) || errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Update with a function that panics = %v; want a plain error", err)
	}
	same(t, "the stored records", all(t, b, ""), []storage.Record{was})
	put(t, b, record(k, 2, "2"))
	checkUsage(t, b, app("a"))
}
