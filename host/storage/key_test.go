package storage_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolrun/toolrun/host/storage"
)

var tags = []storage.Tag{
	storage.System, storage.Tenant, storage.App, storage.User, storage.Agent,
	storage.Session, storage.Workflow, storage.Store, storage.Item,
}

// drawParts generates parts with values that an ambiguous encoding would confuse.
func drawParts(t *rapid.T, label string) []storage.Part {
	value := rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "aa", "\x10\x01a", "\x70", "\x01", "\x00", "\xff"}),
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) }),
	)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) storage.Part {
		return storage.Part{Tag: rapid.SampledFrom(tags).Draw(t, "tag"), Value: value.Draw(t, "value")}
	}), 0, 5).Draw(t, label)
}

func present(parts []storage.Part) []storage.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p storage.Part) bool { return p.Value == "" })
}

func TestKeyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := drawParts(t, "parts")
		k := storage.MakeKey(parts...)
		got, err := k.Parts()
		if err != nil || !slices.Equal(got, present(parts)) {
			t.Fatalf("MakeKey(%q).Parts() = %q, %v", parts, got, err)
		}
		for _, p := range got {
			i := slices.IndexFunc(got, func(q storage.Part) bool { return q.Tag == p.Tag })
			if v := k.Part(p.Tag); v != got[i].Value {
				t.Fatalf("%q.Part(%s) = %q; want %q", k, p.Tag, v, got[i].Value)
			}
		}
	})
}

// TestKeyPrefix compares pairs of keys. One key must be a prefix of the other key if and only if
// the parts of the shorter key are the first parts of the longer key. If two lists have equal
// lengths, the test also shows that different lists have different keys.
func TestKeyPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := present(drawParts(t, "a")), present(drawParts(t, "b"))
		if n := rapid.IntRange(0, len(a)).Draw(t, "shared"); rapid.Bool().Draw(t, "share") {
			b = append(slices.Clone(a[:n]), b...)
		}
		begins := len(a) >= len(b) && slices.Equal(a[:len(b)], b)
		if got := storage.MakeKey(a...).HasPrefix(storage.MakeKey(b...)); got != begins {
			t.Fatalf("key of %q has the prefix of %q: %v; want %v", a, b, got, begins)
		}
		if got := storage.MakeKey(a...) == storage.MakeKey(b...); got != slices.Equal(a, b) {
			t.Fatalf("keys of %q and %q are the same: %v", a, b, got)
		}
	})
}

func TestKeyOtherBytes(t *testing.T) {
	for _, k := range []storage.Key{"x", "\x10", "\x10\x00", "\x10\x02a", "\x11\x01a", "\x10\x81\x00a", "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a",
		"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if parts, err := k.Parts(); err == nil {
			t.Errorf("%q.Parts() = %q; want an error", string(k), parts)
		}
		if k.Part(storage.Tenant) != "" {
			t.Errorf("%q has a tenant", string(k))
		}
		if want := fmt.Sprintf("%q", string(k)); k.String() != want {
			t.Errorf("String() = %s; want %s", k, want)
		}
	}
}

// TestKeyStringIsPrintable checks that keys are safe to print on a terminal. A key can come from a
// damaged file.
func TestKeyStringIsPrintable(t *testing.T) {
	for value, want := range map[string]string{
		"ann": "user=ann", "Jürgen 王": "user=Jürgen 王", "\x1b[2J": `user="\x1b[2J"`, "a\nb": `user="a\nb"`, "\u202eevil": `user="\u202eevil"`,
		"\xff": `user="\xff"`, "a/app=b": `user="a/app=b"`, `a"b`: `user="a\"b"`, "\x07": `user="\a"`, "\u009b1m": `user="\u009b1m"`,
	} {
		if got := storage.MakeKey(storage.Part{Tag: storage.User, Value: value}).String(); got != want {
			t.Errorf("key of %q = %s; want %s", value, got, want)
		}
	}
}

func TestGroup(t *testing.T) {
	tenant, app := storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.App, Value: "shop"}
	system := storage.Part{Tag: storage.System, Value: "run"}
	group := storage.MakeKey(tenant, app)
	for _, test := range []struct {
		key storage.Key
		ok  bool
	}{
		{group, true},
		{group.With(storage.Part{Tag: storage.Store, Value: "s"}), true},
		{storage.MakeKey(tenant), false},
		{storage.MakeKey(app, tenant), false},
		{storage.MakeKey(system, tenant, app), true},
		{storage.MakeKey(system, tenant, app, storage.Part{Tag: storage.Item, Value: "r1"}), true},
		{storage.MakeKey(system), false},
		{group + "x", false},
		{"", false},
	} {
		got, ok := test.key.Group()
		if ok != test.ok || ok && got != group {
			t.Errorf("%s.Group() = %s, %v; want %v", test.key, got, ok, test.ok)
		}
	}
}

func FuzzKeyParts(f *testing.F) {
	f.Add("")
	f.Add(string(storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.Store, Value: "s"})))
	f.Add("\x10\x81\x00a")
	f.Add("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a")
	f.Add("\x10\x05abc")
	f.Fuzz(func(t *testing.T, data string) {
		k := storage.Key(data)
		_ = k.String()
		k.Group()
		parts, err := k.Parts()
		if err == nil && storage.MakeKey(parts...) != k {
			t.Errorf("%q has parts %q, but these have another key", data, parts)
		}
	})
}

func ExampleMakeKey() {
	acme := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"})
	key := acme.With(
		storage.Part{Tag: storage.App, Value: "shop"},
		storage.Part{Tag: storage.User, Value: ""}, // the user is "", so the part is omitted
		storage.Part{Tag: storage.Store, Value: "prices"},
	)
	fmt.Println(key)
	fmt.Println(key.HasPrefix(acme))
	fmt.Println(key.HasPrefix(storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "ac"})))
	// Output:
	// tenant=acme/app=shop/store=prices
	// true
	// false
}
