package storagetest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolrun/toolrun/host/storage"
)

// Run checks that a backend fulfills the contract of storage.Backend. The function "open" returns a
// new, empty backend. Run closes the backend.
func Run(t *testing.T, open func(t *testing.T) storage.Backend) {
	suite := []struct {
		name string
		test func(t *testing.T, b storage.Backend)
	}{
		{"get", testGet},
		{"copies", testCopies},
		{"content", testContent},
		{"keys", testKeys},
		{"read", testRead},
		{"scan", testScan},
		{"held versions", testHeldVersions},
		{"held ranges", testHeldRanges},
		{"empty range", testEmptyRange},
		{"changes", testChanges},
		{"followers", testFollowers},
		{"update", testUpdate},
		{"rejected writes", testRejectedWrites},
		{"function fails", testFunctionFails},
		{"usage of users", testUserUsage},
		{"usage of accounts", testAccounts},
		{"usage after removals", testUsageAfterRemovals},
		{"budget", testBudget},
		{"budget of other accounts", testBudgetNames},
		{"budget race", testBudgetRace},
		{"budget and faults", testBudgetFaults},
		{"floors", testFloors},
		{"delete", testDelete},
		{"delete returns heads", testDeleteReturnsHeads},
		{"delete of large records", testDeleteLarge},
		{"tags", testTags},
		{"neighbours", testDeleteWhileWriting},
		{"sweep", testSweep},
		{"sweep checks expiry", testSweepChecksExpiry},
		{"limits", testLimits},
		{"creation race", testCreationRace},
		{"write skew", testWriteSkew},
		{"phantoms", testPhantoms},
		{"transfers", testTransfers},
		{"linearizable", testLinearizable},
		{"linearizable ranges", testLinearizableRanges},
		{"cancelled", testCancelled},
		{"cancelled while waiting", testCancelledWhileWaiting},
		{"cancelled once begun", testCancelledOnceBegun},
		{"closed", testClosed},
		{"closed in use", testClosedInUse},
		{"faults", testFaults},
	}
	for _, s := range suite {
		t.Run(s.name, func(t *testing.T) {
			b := open(t)
			defer b.Close()
			s.test(t, b)
		})
	}
	t.Run("histories", func(t *testing.T) { testHistories(t, open) })
}

var epoch = time.Date(2030, 1, 2, 3, 4, 5, 678901000, time.UTC)

// app returns the key of a store in an app.
func app(name string, parts ...storage.Part) storage.Key {
	return storage.MakeKey(
		storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.App, Value: name}).With(parts...)
}

func user(name string) storage.Part  { return storage.Part{Tag: storage.User, Value: name} }
func store(name string) storage.Part { return storage.Part{Tag: storage.Store, Value: name} }

func record(k storage.Key, revision int64, content string) storage.Record {
	r := storage.Record{
		Key: k, Revision: revision, Generation: "i1", Content: []byte(content),
		Created: epoch, Updated: epoch.Add(time.Minute), Run: "run1",
	}
	if u := k.Part(storage.User); u != "" {
		r.Tags = []string{storage.SubjectTag(u)}
	}
	return r
}

// withTags returns r with additional tags.
func withTags(r storage.Record, tags ...string) storage.Record {
	r.Tags = append(slices.Clone(r.Tags), tags...)
	return r
}

// tagged selects the records of an app by a tag.
func tagged(name, tag string) storage.Selector { return storage.Selector{Group: app(name), Tag: tag} }

// sweepUpTo removes expired records and returns their number. The argument "limit" is the maximum
// number of records.
func sweepUpTo(ctx context.Context, b storage.Backend, at time.Time, limit int) (int, error) {
	removed, err := b.DeleteWhere(ctx, storage.Selector{Expired: at}, limit)
	return len(removed), err
}

// tester contains the methods of *testing.T and *rapid.T that the helpers use.
type tester interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// put writes records unchanged.
func put(t tester, b storage.Backend, records ...storage.Record) {
	t.Helper()
	keys := make([]storage.Key, len(records))
	writes := make([]storage.Write, len(records))
	for i, r := range records {
		keys[i], writes[i] = r.Key, storage.Write{Record: r}
	}
	must(t, b.Update(context.Background(), storage.Keys(keys...), func([]storage.Record) ([]storage.Write, error) { return writes, nil }))
}

func get(t tester, b storage.Backend, keys ...storage.Key) []storage.Record {
	t.Helper()
	found, err := b.Get(context.Background(), keys...)
	must(t, err)
	if len(found) != len(keys) {
		t.Fatalf("Get with %d keys returned %d records; want one for each key", len(keys), len(found))
	}
	return found
}

// The function "all" reads all records under a prefix in pages and returns the records.
func all(t tester, b storage.Backend, prefix storage.Key) []storage.Record {
	t.Helper()
	var found []storage.Record
	for after := storage.Key(""); ; after = found[len(found)-1].Key {
		page, err := b.Scan(context.Background(), prefix, after, 7)
		must(t, err)
		found = append(found, page...)
		if len(page) < 7 {
			return found
		}
	}
}

// checkUsage compares the usage of accounts with the stored records.
func checkUsage(t tester, b storage.Backend, accounts ...storage.Key) {
	t.Helper()
	want := make([]storage.Usage, len(accounts))
	for _, r := range all(t, b, "") {
		for i, account := range accounts {
			if slices.Contains(r.Accounts(), account) {
				want[i] = want[i].Plus(storage.UsageOf(storage.HeadOf(r)))
			}
		}
	}
	if got := usage(t, b, accounts...); !slices.Equal(got, want) {
		t.Errorf("usage of %v = %+v; want %+v", accounts, got, want)
	}
}

// usage returns the usage of accounts.
func usage(t tester, b storage.Backend, accounts ...storage.Key) []storage.Usage {
	t.Helper()
	held, err := b.Usage(context.Background(), accounts...)
	must(t, err)
	if len(held) != len(accounts) {
		t.Fatalf("Usage of %d accounts = %v; want one for each account", len(accounts), held)
	}
	return held
}

func must(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// same compares records. Nil and empty contents and tags are equal.
func same(t tester, what string, got, want []storage.Record) {
	t.Helper()
	if !slices.EqualFunc(got, want, equal) {
		t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want, got, cmpopts.EquateEmpty()))
	}
}

// sameHeads compares heads with the heads of records.
func sameHeads(t tester, what string, got []storage.Head, want []storage.Record) {
	t.Helper()
	heads := make([]storage.Head, len(want))
	for i, r := range want {
		heads[i] = storage.HeadOf(r)
	}
	if diff := cmp.Diff(heads, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: heads (-want +got):\n%s", what, diff)
	}
}

func equal(x, y storage.Record) bool {
	return x.Key == y.Key && x.SameVersion(y) && x.Run == y.Run && bytes.Equal(x.Content, y.Content) && slices.Equal(x.Tags, y.Tags) &&
		x.Created == y.Created && x.Updated == y.Updated && x.Expires == y.Expires
}

func testGet(t *testing.T, b storage.Backend) {
	full := record(app("a", user("u"), store("s")), 3, `{"a":1}`)
	full.Expires = epoch.Add(time.Hour)
	full = withTags(full, "session/s1", "workflow/w1")
	bare := storage.Record{Key: app("a", store("bare")), Revision: 1}
	put(t, b, full, bare)

	got := get(t, b, full.Key, app("a", store("none")), bare.Key, full.Key)
	same(t, "Get", got, []storage.Record{full, {}, bare, full})
	same(t, "Get of a prefix", get(t, b, app("a", user("u"))), []storage.Record{{}})
	if none := get(t, b); len(none) != 0 {
		t.Errorf("Get() = %v; want nothing", none)
	}

	local := time.FixedZone("east", 3600)
	odd := record(app("a", store("times")), 1, "")
	odd.Created, odd.Expires = epoch.Add(999).In(local), time.Unix(0, 0)
	put(t, b, odd)
	stored := get(t, b, odd.Key)[0]
	if stored.Created != epoch || stored.Expires != time.Unix(0, 0).UTC() {
		t.Errorf("the stored times are %v and %v; want microseconds in UTC", stored.Created, stored.Expires)
	}
}

func testCopies(t *testing.T, b storage.Backend) {
	k := app("a", store("s"))
	r := record(k, 1, "before")
	r.Tags = []string{"end"}
	put(t, b, r)
	copy(r.Content, "xxxxxx")
	r.Tags[0] = "xxx"
	for range 2 {
		got := append(get(t, b, k), all(t, b, k)...)
		for _, g := range got {
			if string(g.Content) != "before" || !slices.Equal(g.Tags, []string{"end"}) {
				t.Fatalf("the record is %q %v after a change of its copies; want no change", g.Content, g.Tags)
			}
			copy(g.Content, "yyyyyy")
			g.Tags[0] = "yyy"
		}
	}
}

func testContent(t *testing.T, b storage.Backend) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for i, content := range [][]byte{nil, {0}, every, bytes.Repeat([]byte{0xff}, 4096), bytes.Repeat(every, storage.MaxContentBytes/len(every))} {
		r := record(app("a", store(fmt.Sprint("s", i))), 1, string(content))
		put(t, b, r)
		if got := get(t, b, r.Key)[0]; !bytes.Equal(got.Content, content) {
			t.Errorf("Get returned a wrong content for %d stored bytes; the content has %d bytes", len(content), len(got.Content))
		}
	}
	checkUsage(t, b, app("a"))
}

func testKeys(t *testing.T, b storage.Backend) {
	long := storage.MaxKeyBytes - len(app("a")) - 4
	values := []string{"\x00", "a", "a\x00", "a/b", "\xff", "\xff\xff", "é", string(make([]byte, 300)), string(make([]byte, long))}
	var want []storage.Record
	for i, v := range values {
		r := record(app("a", store(v)), int64(i+1), v)
		put(t, b, r)
		want = append(want, r)
	}
	for _, w := range want {
		same(t, "Get", get(t, b, w.Key), []storage.Record{w})
	}
	slices.SortFunc(want, func(x, y storage.Record) int { return bytes.Compare([]byte(x.Key), []byte(y.Key)) })
	same(t, "Scan", all(t, b, ""), want)
	checkUsage(t, b, app("a"))
}

func testScan(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	var want []storage.Record
	for i := range 20 {
		want = append(want, record(app("a", user("u"), store(fmt.Sprintf("s%02d", i))), 1, "x"))
	}
	put(t, b, want...)
	put(t, b, record(app("a", user("uu"), store("s")), 1, "x"), record(app("a", store("s")), 1, "x"), record(app("aa", user("u")), 1, "x"))

	prefix := app("a", user("u"))
	same(t, "all", all(t, b, prefix), want)
	if n := len(all(t, b, "")); n != 23 {
		t.Errorf("Scan of all keys = %d records; want 23", n)
	}
	for _, c := range []struct {
		name  string
		after storage.Key
		limit int
		want  []storage.Record
	}{
		{"first", "", 3, want[:3]},
		{"after a record", want[4].Key, 3, want[5:8]},
		{"after a missing key", want[4].Key + "x", 3, want[5:8]},
		{"after the last", want[19].Key, 3, nil},
		{"before the prefix", app("a"), 3, want[:3]},
		{"after the prefix", app("a", user("zz")), 3, nil},
		{"the rest", want[17].Key, 1 << 40, want[18:]},
	} {
		got, err := b.Scan(ctx, prefix, c.after, c.limit)
		must(t, err)
		same(t, c.name, got, c.want)
		heads, err := b.Heads(ctx, prefix, c.after, c.limit)
		must(t, err)
		sameHeads(t, c.name, heads, c.want)
	}
}
