package host_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
)

// TestEraseKeepsShared checks that an erasure reports how many entries it has kept. The test also
// checks that a collection without a declaration is removed together with its last entry,
// because the name of the collection can contain data about the user.
func TestEraseKeepsShared(t *testing.T) {
	h := openCollections(t)
	fillCollections(t, h)
	remember(t, h, host.Caller{User: "ann"}, "kb", host.NewEntry{ID: "a1", Content: text("Ann wrote this.")})
	remember(t, h, host.Caller{User: "ann"}, "chats-of-ann", host.NewEntry{ID: "m1", Namespace: "s1", Content: text("tea")})
	remember(t, h, host.Caller{User: "bob"}, "chats", host.NewEntry{ID: "m1", Namespace: "s1", Content: text("coffee")})
	erased, err := h.Users().Erase(t.Context(), host.Caller{User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"kb": 4}; !maps.Equal(erased.KeptShared, want) {
		t.Errorf("KeptShared = %v; want %v", erased.KeptShared, want)
	}
	if want := map[string]int{"diary": 1, "tips": 1, "chats": 1, "chats-of-ann": 1}; !maps.Equal(erased.Stores, want) {
		t.Errorf("Stores = %v; want %v", erased.Stores, want)
	}
	found, err := host.CollectionsOf(h).All(t.Context(), host.Caller{})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range found {
		names[c.Name] = c.Embedder != ""
	}
	if want := map[string]bool{"kb": true, "tips": true, "diary": true, "thread": false, "chats": true}; !maps.Equal(names, want) {
		t.Errorf("collections with an embedder: %v; want %v", names, want)
	}
	if got := entryIDs(t, h, host.Caller{}, memory.EntryQuery{Collection: "chats", Limit: 10}); len(got) != 1 {
		t.Errorf("the entries of other users are %v; want one", got)
	}
	if hits, err := host.CollectionsOf(h).Recall(t.Context(), host.Caller{User: "bob"}, host.RecallEntries{Collection: "chats", Namespace: "s1", Query: "coffee"}); err != nil || len(hits) != 1 {
		t.Errorf("recall of another user = %v, %v; want one result", hits, err)
	}
}

// The number of collections without a declaration is limited. TestUndeclaredCollectionsOfUser
// checks that one user cannot create all of them. If the user is erased, no data of the user may
// remain in collections that other users use.
func TestUndeclaredCollectionsOfUser(t *testing.T) {
	h := openUndeclared(t)
	use := func(c host.Caller, from, to int) error {
		_, err := h.Run(t.Context(), host.Invocation{Tool: "tool", Caller: c, Input: fmt.Appendf(nil, `{"from":%d,"to":%d}`, from, to)})
		return err
	}
	bob := host.Caller{User: "bob"}
	if err := use(ann, 0, 60); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[int]int{60: 161, 100: 201} {
		if err := use(ann, from, to); !errors.Is(err, abi.QuotaExceeded) || !strings.Contains(err.Error(), "the user has 100 collections") {
			t.Errorf("the collections %d to %d of a user: %v; want quota_exceeded", from, to, err)
		}
	}
	if err := use(ann, 60, 100); err != nil {
		t.Errorf("the 100th collection of a user: %v", err)
	}
	if err := use(bob, 0, 200); err != nil {
		t.Errorf("collections of another user, 100 of which exist: %v", err)
	}
	if err := use(bob, 200, 201); !errors.Is(err, abi.QuotaExceeded) {
		t.Errorf("the 101st collection of another user: %v; want quota_exceeded", err)
	}
	if _, err := h.Users().Erase(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	if err := use(ann, 300, 400); err != nil {
		t.Errorf("100 collections after an erasure: %v", err)
	}
}

// openUndeclared opens an app. The tool of the app creates and uses collections that the app does
// not declare.
func openUndeclared(t *testing.T, change ...func(*host.Options)) *host.Host {
	t.Helper()
	return openApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte("app: test\nmemory: {kb: {kind: collection, access: application}}\ncollections: auto\n" +
			"tools:\n  tool:\n    source: tool.js\n    grants: {\"c*\": readwrite, kb: readwrite}\n    inputSchema: {properties: {from: {}, to: {}, remove: {}}}\n")},
		"tool.js": {Data: []byte(`for (let i = input.from; i < input.to; i++) {
			if (input.remove) await memory.forget("c" + i, {id: "x"});
			else await memory.remember("c" + i, "text", {id: "x"});
		}`)},
	}, change...)
}

// TestUndeclaredCollections checks that the number of collections without a declaration is limited.
// If such a collection has no more entries, a sweep must remove the collection.
func TestUndeclaredCollections(t *testing.T) {
	h := openUndeclared(t)
	use := func(input string) error { // no user, because a user can create only 100
		_, err := h.Run(t.Context(), host.Invocation{Tool: "tool", Input: []byte(input)})
		return err
	}
	for _, input := range []string{`{"from":0,"to":400}`, `{"from":400,"to":800}`} {
		if err := use(input); err != nil {
			t.Fatal(err)
		}
	}
	if err := use(`{"from":800,"to":1001}`); !errors.Is(err, abi.QuotaExceeded) {
		t.Errorf("the 1001st collection: %v; want quota_exceeded", err)
	}
	if err := use(`{"from":800,"to":1000}`); err != nil {
		t.Errorf("the 1000th collection: %v", err)
	}
	if err := use(`{"from":1000,"to":1001}`); !errors.Is(err, abi.QuotaExceeded) {
		t.Errorf("the 1001st collection in another run: %v; want quota_exceeded", err)
	}
	if err := use(`{"from":0,"to":1}`); err != nil {
		t.Errorf("a collection that exists: %v", err)
	}
	remember(t, h, host.Caller{}, "kb", host.NewEntry{Content: text("declared")})
	if err := use(`{"from":7,"to":8,"remove":true}`); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := use(`{"from":1000,"to":1001}`); err != nil {
		t.Errorf("a collection after a sweep has removed an empty one: %v", err)
	}
}
