package host_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
)

const collectionsApp = `
app: helpdesk
memory:
  kb: {kind: collection, access: application, erase: never}
  tips: {kind: collection, access: application}
  diary: {kind: collection, access: user, retention: 90d}
  thread: {kind: collection, access: session}
  prefs: {access: user}
collections: auto
`

func openCollections(t *testing.T, change ...func(*host.Options)) *host.Host {
	t.Helper()
	atTime := func(o *host.Options) { o.Now = func() time.Time { return blocksTime } }
	return openApp(t, fstest.MapFS{"app.yaml": {Data: []byte(collectionsApp)}}, append([]func(*host.Options){atTime}, change...)...)
}

func text(s string) json.RawMessage {
	encoded, _ := json.Marshal(s)
	return encoded
}

// userCaller returns the caller of a request with the credentials of a user.
func userCaller(id string) host.Caller { return host.Caller{User: id, ActorIsUser: true} }

func remember(t *testing.T, h *host.Host, c host.Caller, name string, entries ...host.NewEntry) []host.Remembered {
	t.Helper()
	stored, err := host.CollectionsOf(h).Remember(t.Context(), c, name, entries...)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// entryIDs lists all entries that a caller can list, page by page. entryIDs returns the namespace
// and the id of each entry.
func entryIDs(t *testing.T, h *host.Host, c host.Caller, q memory.EntryQuery) []string {
	t.Helper()
	ids := []string{}
	for {
		found, next, err := host.CollectionsOf(h).List(t.Context(), c, q)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > q.Limit {
			t.Fatalf("a page has %d entries; the limit is %d", len(found), q.Limit)
		}
		for _, e := range found {
			ids = append(ids, cmp.Or(e.User, e.Author)+":"+e.Namespace+"/"+e.ID)
		}
		if q.After = next; next == "" {
			return ids
		}
	}
}

func fillCollections(t *testing.T, h *host.Host) {
	t.Helper()
	remember(t, h, host.Caller{}, "kb",
		host.NewEntry{ID: "r1", Content: text("We refund a broken cup."), Metadata: json.RawMessage(`{"category":"refunds"}`)},
		host.NewEntry{ID: "s1", Content: text("A parcel to Norway takes a week."), Metadata: json.RawMessage(`{"category":"shipping"}`)},
		host.NewEntry{ID: "r1", Namespace: "fr", Content: text("Nous remboursons une tasse.")})
	remember(t, h, host.Caller{User: "ann"}, "diary", host.NewEntry{ID: "d1", Content: text("I like green tea.")})
	remember(t, h, host.Caller{User: "bob"}, "diary", host.NewEntry{ID: "d1", Content: text("I like coffee.")})
	remember(t, h, host.Caller{User: "ann"}, "chats", host.NewEntry{ID: "m1", Namespace: "s1", Content: text("green tea, please")})
	remember(t, h, host.Caller{User: "ann"}, "tips", host.NewEntry{ID: "t1", Content: text("Ask for Ann.")})
}

func TestCollectionsList(t *testing.T) {
	h := openCollections(t)
	fillCollections(t, h)
	found, err := host.CollectionsOf(h).Describe(t.Context(), host.Caller{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range found {
		got = append(got, fmt.Sprintf("%s declared=%t %s entries=%d namespaces=%d embedder=%q/%d more=%t", c.Name, c.Declared, c.Access, c.Entries, c.Namespaces, c.Embedder, c.Dim, c.More))
		if (c.Bytes > 0) != (c.Entries > 0) {
			t.Errorf("%s has %d entries and %d bytes", c.Name, c.Entries, c.Bytes)
		}
	}
	want := []string{
		`kb declared=true application entries=3 namespaces=2 embedder="lexical-1"/512 more=false`,
		`tips declared=true application entries=1 namespaces=1 embedder="lexical-1"/512 more=false`,
		`diary declared=true user entries=2 namespaces=2 embedder="lexical-1"/512 more=false`,
		`thread declared=true session entries=0 namespaces=0 embedder=""/0 more=false`,
		`chats declared=false application entries=1 namespaces=1 embedder="lexical-1"/512 more=false`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("List:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if other, err := host.CollectionsOf(h).Show(t.Context(), host.Caller{Tenant: "other"}, "kb"); err != nil || other.Entries != 0 || other.Embedder != "" {
		t.Errorf("Show in another tenant = %+v, %v; want no entries", other, err)
	}
	for _, name := range []string{"missing", "prefs", "sessionMeta"} {
		if _, err := host.CollectionsOf(h).Show(t.Context(), host.Caller{}, name); !errors.Is(err, abi.NotFound) {
			t.Errorf("Show(%q): %v; want not_found", name, err)
		}
	}
}

func TestCollectionsEntries(t *testing.T) {
	h := openCollections(t)
	fillCollections(t, h)
	fr := "fr"
	for _, tt := range []struct {
		name   string
		caller host.Caller
		query  memory.EntryQuery
		want   string
	}{
		{"all", host.Caller{}, memory.EntryQuery{Collection: "kb"}, ":/r1 :/s1 :fr/r1"},
		{"one namespace", host.Caller{}, memory.EntryQuery{Collection: "kb", Namespace: &fr}, ":fr/r1"},
		{"all users", host.Caller{}, memory.EntryQuery{Collection: "diary"}, "ann:/d1 bob:/d1"},
		{"one user", host.Caller{User: "bob"}, memory.EntryQuery{Collection: "diary"}, "bob:/d1"},
		{"the user of an entry of the app", host.Caller{}, memory.EntryQuery{Collection: "tips"}, "ann:/t1"},
		{"another tenant", host.Caller{Tenant: "other"}, memory.EntryQuery{Collection: "kb"}, ""},
		{"a user's credentials", userCaller("ann"), memory.EntryQuery{Collection: "diary"}, "ann:/d1"},
		{"a user's credentials without a declaration", userCaller("ann"), memory.EntryQuery{Collection: "chats"}, "ann:s1/m1"},
		{"another user's credentials", userCaller("bob"), memory.EntryQuery{Collection: "chats"}, ""},
	} {
		for _, limit := range []int{1, 2, 1000} {
			tt.query.Limit = limit
			if got := strings.Join(entryIDs(t, h, tt.caller, tt.query), " "); got != tt.want {
				t.Errorf("%s, limit %d: %q; want %q", tt.name, limit, got, tt.want)
			}
		}
	}
}

func TestCollectionsOwn(t *testing.T) {
	h := openCollections(t)
	fillCollections(t, h)
	ctx, c := t.Context(), host.CollectionsOf(h)
	for _, tt := range []struct {
		collection, namespace string
		code                  abi.Code
	}{
		{"kb", "", abi.AccessDenied}, {"kb", "fr", abi.AccessDenied}, {"chats", "", abi.AccessDenied}, {"prefs", "", abi.NotFound}, {"9", "", abi.NotFound},
		{"thread", "", abi.NoSession}, {"diary", "", ""}, {"chats", "s1", ""},
	} {
		_, err := c.Recall(ctx, userCaller("ann"), host.RecallEntries{Collection: tt.collection, Namespace: tt.namespace, Query: "tea"})
		if got := codeOf(err); got != tt.code {
			t.Errorf("Recall in %s/%s as a user: %v; want %s", tt.collection, tt.namespace, err, tt.code)
		}
		_, err = c.Get(ctx, userCaller("ann"), tt.collection, tt.namespace, "r1")
		if got := codeOf(err); got != tt.code {
			t.Errorf("Get in %s/%s as a user: %v; want %s", tt.collection, tt.namespace, err, tt.code)
		}
	}
	for _, name := range []string{"kb", "tips"} {
		if _, _, err := c.List(ctx, userCaller("ann"), memory.EntryQuery{Collection: name, Limit: 10}); !errors.Is(err, abi.AccessDenied) {
			t.Errorf("Entries of %s as a user: %v; want access_denied", name, err)
		}
	}
	if found, err := c.Get(ctx, userCaller("bob"), "chats", "s1", "m1"); found != nil || err != nil {
		t.Errorf("bob gets %+v, %v of ann", found, err)
	}
}

func codeOf(err error) abi.Code {
	if err == nil {
		return ""
	}
	return abi.FaultOf(err).Code
}

func TestCollectionsRecallAndForget(t *testing.T) {
	h := openCollections(t)
	fillCollections(t, h)
	ctx, c := t.Context(), host.CollectionsOf(h)
	found, err := c.Recall(ctx, host.Caller{}, host.RecallEntries{Collection: "kb", Query: "broken cup", Filter: json.RawMessage(`{"category":"refunds"}`), Scores: true, Limit: 5})
	if err != nil || len(found) != 1 || found[0].ID != "r1" || found[0].Vector == nil || string(found[0].Metadata) != `{"category":"refunds"}` {
		t.Fatalf("Recall = %+v, %v", found, err)
	}
	if _, err := c.Recall(ctx, host.Caller{}, host.RecallEntries{Collection: "kb", Query: "cup", Mode: "fuzzy"}); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("Recall with an unknown mode: %v", err)
	}
	if _, err := c.Forget(ctx, host.Caller{}, host.ForgetEntries{Collection: "kb", Namespace: "fr"}); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("Forget without a selector: %v", err)
	}
	done, err := c.Forget(ctx, host.Caller{}, host.ForgetEntries{Collection: "kb", ID: "r1"})
	if err != nil || done.Count != 1 || done.More {
		t.Fatalf("Forget = %+v, %v", done, err)
	}
	if e, err := c.Get(ctx, host.Caller{}, "kb", "", "r1"); e != nil || err != nil {
		t.Errorf("a forgotten entry: %+v, %v", e, err)
	}
	if e, err := c.Get(ctx, host.Caller{}, "kb", "fr", "r1"); err != nil || e == nil || string(e.Content) != `"Nous remboursons une tasse."` {
		t.Errorf("an entry of another namespace: %+v, %v", e, err)
	}
}

func TestCollectionsLedger(t *testing.T) {
	h := openCollections(t, func(o *host.Options) { o.Ledger = 24 * time.Hour })
	fillCollections(t, h)
	actor := host.Caller{Actor: "ops"}
	if _, _, err := host.CollectionsOf(h).List(t.Context(), actor, memory.EntryQuery{Collection: "kb", Limit: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := host.CollectionsOf(h).Forget(t.Context(), actor, host.ForgetEntries{Collection: "kb", All: true}); err != nil {
		t.Fatal(err)
	}
	all := entries(t, h, ledger.Query{})
	acts := map[string][]string{}
	for _, e := range all {
		for _, r := range e.Reads {
			acts[e.Actor+" "+e.Act] = append(acts[e.Actor+" "+e.Act], "read "+r.Store)
		}
		for _, w := range e.Writes {
			acts[e.Actor+" "+e.Act] = append(acts[e.Actor+" "+e.Act], w.Op+" "+w.Store+w.Item)
		}
	}
	if list, forget := acts["ops list"], acts["ops operate"]; !slices.Equal(list, []string{"read kb"}) || !slices.Contains(forget, "delete kb/r1") || !slices.Contains(forget, "delete kb/s1") {
		t.Errorf("the ledger has %v; want the list and the removal of two entries", acts)
	}
}

func TestCollectionsRememberAllOrNothing(t *testing.T) {
	h := openCollections(t)
	ctx, c := t.Context(), host.CollectionsOf(h)
	_, err := c.Remember(ctx, host.Caller{}, "kb", host.NewEntry{ID: "a", Content: text("a")}, host.NewEntry{ID: "b"})
	if !errors.Is(err, abi.InvalidArgument) || !strings.HasPrefix(abi.FaultOf(err).Message, "entry 1: ") {
		t.Errorf("an entry without a content: %v", err)
	}
	if _, err := c.Remember(ctx, host.Caller{}, "kb", make([]host.NewEntry, host.MaxRemembered+1)...); !errors.Is(err, abi.TooLarge) {
		t.Errorf("too many entries: %v", err)
	}
	if _, err := c.Remember(ctx, host.Caller{}, "prefs", host.NewEntry{Content: text("a")}); err == nil {
		t.Error("entries were stored in documents")
	}
	if ids := entryIDs(t, h, host.Caller{}, memory.EntryQuery{Collection: "kb", Limit: 10}); len(ids) > 0 {
		t.Errorf("a failed call has stored %v", ids)
	}
}

// TestCollectionsTransfer exports collections and imports them into another host. Each imported
// entry must keep its owner. An entry of the app must also keep its author, because the erasure of
// the author removes the entry.
func TestCollectionsTransfer(t *testing.T) {
	from, to := openCollections(t), openCollections(t)
	fillCollections(t, from)
	ctx := t.Context()
	for _, name := range []string{"kb", "diary", "chats", "tips"} {
		var first, second bytes.Buffer
		for range 2 { // the second import replaces
			first.Reset()
			if _, err := host.CollectionsOf(from).Export(ctx, host.Caller{}, name, nil, &first, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := host.CollectionsOf(to).Import(ctx, host.Caller{}, name, bytes.NewReader(first.Bytes()), nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := host.CollectionsOf(to).Export(ctx, host.Caller{}, name, nil, &second, nil); err != nil {
			t.Fatal(err)
		}
		if first.Len() == 0 || withoutTimes(first) != withoutTimes(second) {
			t.Errorf("%s:\n%s\nafter the import:\n%s", name, &first, &second)
		}
	}
	if _, err := to.Users().Erase(ctx, host.Caller{User: "ann"}); err != nil {
		t.Fatal(err)
	}
	if c, err := host.CollectionsOf(to).Show(ctx, host.Caller{}, "chats"); !errors.Is(err, abi.NotFound) {
		t.Errorf("chats after the erasure of ann: %+v, %v; want not_found", c, err)
	}
	for name, want := range map[string]int{"kb": 3, "diary": 1, "tips": 0} {
		if c, err := host.CollectionsOf(to).Show(ctx, host.Caller{}, name); err != nil || c.Entries != want {
			t.Errorf("%s after the erasure of ann: %+v, %v; want %d entries", name, c, err, want)
		}
	}
}

// withoutTimes removes the times of writes from the lines of an export.
func withoutTimes(lines bytes.Buffer) string {
	return regexp.MustCompile(`,"updated_at":"[^"]*"`).ReplaceAllString(lines.String(), "")
}

func TestCollectionsImport(t *testing.T) {
	h := openCollections(t)
	ctx, c := t.Context(), host.CollectionsOf(h)
	var lines strings.Builder
	for i := range 250 {
		fmt.Fprintf(&lines, `{"content": "article %d", "metadata": {"n": %d}}`+"\n\n", i, i)
	}
	lines.WriteString(`{"id": "old", "content": "x", "expires_at": "2020-01-01T00:00:00Z"}` + "\r\n" + `{"id": "new", "content": "x", "expires_at": "2026-05-01T00:00:00Z"}`)
	for range 2 {
		var steps []int
		done, err := c.Import(ctx, host.Caller{}, "kb", strings.NewReader(lines.String()), func(p host.EntryProgress) { steps = append(steps, p.Entries) })
		if err != nil || done != (host.EntryProgress{Entries: 251, Expired: 1}) || !slices.Equal(steps, []int{100, 200, 251}) {
			t.Fatalf("Import = %+v, %v in steps %v", done, err, steps)
		}
	}
	if ids := entryIDs(t, h, host.Caller{}, memory.EntryQuery{Collection: "kb", Limit: 100}); len(ids) != 251 {
		t.Errorf("two imports of 251 entries have stored %d", len(ids))
	}
	e, err := c.Get(ctx, host.Caller{}, "kb", "", "new")
	if err != nil || e == nil || e.Expires == nil || !e.Expires.Equal(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("the entry with an end = %+v, %v", e, err)
	}
}

func TestCollectionsImportFaults(t *testing.T) {
	h := openCollections(t)
	good := `{"id": "a", "content": "a"}` + "\n"
	for name, tt := range map[string]struct {
		lines, want string
		code        abi.Code
	}{
		"not JSON":         {good + "\n{", "line 3: ", abi.InvalidArgument},
		"not an object":    {good + `["a"]`, "line 2: ", abi.InvalidArgument},
		"an unknown name":  {`{"content": "a", "text": "b"}`, "line 1: ", abi.InvalidArgument},
		"a wrong type":     {`{"content": "a", "id": 7}`, "line 1: ", abi.InvalidArgument},
		"a wrong time":     {`{"content": "a", "expires_at": "soon"}`, "line 1: ", abi.InvalidArgument},
		"two ends":         {`{"content": "a", "ttl": "1d", "expires_at": "2026-05-01T00:00:00Z"}`, "line 1: ", abi.InvalidArgument},
		"no content":       {good + `{"id": "b"}`, "lines 1 to 2: entry 1: ", abi.InvalidArgument},
		"a large content":  {`{"content": "` + strings.Repeat("x", 300<<10) + `"}`, "line 1: ", abi.TooLarge},
		"a very long line": {good + `{"content": "` + strings.Repeat("x", 2<<20) + `"}`, "line 2: ", abi.TooLarge},
	} {
		_, err := host.CollectionsOf(h).Import(t.Context(), host.Caller{}, "kb", strings.NewReader(tt.lines), nil)
		if codeOf(err) != tt.code || !strings.HasPrefix(abi.FaultOf(err).Message, tt.want) || strings.Contains(abi.FaultOf(err).Message, "host.") {
			t.Errorf("%s: %v; want %s: %s", name, err, tt.code, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := host.CollectionsOf(h).Import(ctx, host.Caller{}, "kb", strings.NewReader(good), nil); err == nil {
		t.Error("a canceled import has no error")
	}
}

func FuzzEntryReader(f *testing.F) {
	f.Add([]byte(`{"id": "a", "content": "a", "metadata": {"x": 1}, "user_id": "ann"}` + "\n" + `{"content": {"a": [1]}, "ttl": "1d"}`))
	f.Add([]byte("\ufeff{\"content\":1}\r\n\r\nnull\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := host.NewEntryReader(bytes.NewReader(data), blocksTime)
		for {
			b, err := r.Next()
			if err != nil {
				return
			}
			if len(b.Entries)+b.Expired == 0 || len(b.Entries) > host.MaxRemembered || b.First > b.Last {
				t.Fatalf("the batch %+v", b)
			}
			for _, e := range b.Entries {
				if e.ID == "" {
					t.Fatal("an entry has no id")
				}
			}
		}
	})
}
