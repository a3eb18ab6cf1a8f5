package app_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
)

func TestCollections(t *testing.T) {
	a := mustLoad(t, "app.yaml", `app: shop
collections: auto
memory:
  kb: {kind: collection, access: application, embedding: small, erase: never, language: german, description: Articles}
  diary: {kind: collection, access: user, retention: 90d, expose: recall}
tools:
  ask: {source: ask.js, description: Ask, grants: {"kb": read, "conversations*": readwrite, made_up: write}}
`, "ask.js", "return 1")
	if !a.AutoCollections {
		t.Error("the app does not allow collections without a declaration")
	}
	want := []declare.Store{
		{Name: "kb", Description: "Articles", Kind: declare.KindCollection, Access: declare.ScopeApplication,
			Collection: declare.Collection{Embedding: "small", Erase: declare.EraseNever, Language: "german"}},
		{Name: "diary", Kind: declare.KindCollection, Access: declare.ScopeUser, Retention: declare.Retention{For: 90 * 24 * time.Hour}, Collection: declare.Collection{Exposed: true}},
	}
	if diff := cmp.Diff(want, a.Stores); diff != "" {
		t.Errorf("the stores differ (-want +got):\n%s", diff)
	}
	all := []abi.Verb{abi.Read, abi.Write, abi.Delete}
	grants := []declare.Grant{{Store: "kb", Verbs: all[:1]}, {Store: "conversations*", Verbs: all}, {Store: "made_up", Verbs: all[1:2]}}
	if diff := cmp.Diff(grants, a.Tools[0].Grants); diff != "" {
		t.Errorf("the grants differ (-want +got):\n%s", diff)
	}
	text, err := app.Export(a)
	if err != nil {
		t.Fatal(err)
	}
	again, problems := app.Import("shop.json", text)
	if len(problems) > 1 { // a warning that a store is not granted to any tool
		t.Fatalf("Import: %v", problems)
	}
	if diff := cmp.Diff(a.Stores, again.Stores); diff != "" || !again.AutoCollections {
		t.Errorf("the stores of the export differ (-want +got):\n%s", diff)
	}
	if twice, err := app.Export(again); err != nil || !bytes.Equal(text, twice) {
		t.Errorf("the second export is %s, %v; want the first export, %s", twice, err, text)
	}
}

func TestCollectionProblems(t *testing.T) {
	for _, tt := range []struct{ name, file, problem, hint string }{
		{"a word", "collections: yes_please", "1:14: the value of `collections` must be `auto`", "write `collections: auto`"},
		{"a schema", "memory: {kb: {kind: collection, access: user, schema: {}}}", "1:55: the key schema does not apply to collections", "remove schema"},
		{"strict", "memory: {kb: {kind: collection, access: user, strict: true}}", "1:55: the key strict does not apply to collections", "remove strict"},
		{"a document", "memory: {prefs: {access: user, embedding: small}}", "1:43: the key embedding applies only to collections", "add kind: collection"},
		{"erase", "memory: {kb: {kind: collection, access: application, erase: nevr}}", "1:61: the value \"nevr\" is not valid for the key `erase`", `did you mean "never"?`},
		{"erase of users", "memory: {kb: {kind: collection, access: user, erase: never}}", "1:54: the key `erase` applies only to collections with the access application", "remove erase"},
		{"embedding", "memory: {kb: {kind: collection, access: user, embedding: 'a b'}}", `1:58: invalid name of an embedding model "a b"`, "lexical"},
		{"language", "memory: {kb: {kind: collection, access: user, language: germn}}", `1:57: the language "germn" is not supported for collections`, `did you mean "german"?`},
		{"no access", "memory: {kb: {kind: collection}}", "1:10: the store \"kb\" does not declare its access", "add `access: user`"},
		{"exposed", "memory: {kb: {kind: collection, access: user, expose: resource}}", "1:55: the value \"resource\" is not valid for the key `expose` of a collection", "write `expose: recall`"},
		{"exposed entries of the app", "memory: {kb: {kind: collection, access: application, expose: recall}}", `users cannot search the collection "kb"`, "remove expose"},
		{"an exposed document", "memory: {kb: {access: user, expose: recall}}", "the value \"recall\" is not valid for the key `expose` of a document", "write `expose: resource`"},
		{"a list", "memory: {kb: {kind: collection, access: user, expose: [recall]}}", "the value of `expose` must be recall, not", "write `expose: recall`"},
		{"an unknown grant", "memory: {kb: {kind: collection, access: user}}\ntools: {ask: {source: ask.js, description: Ask, grants: {kbb: read}}}", `the store "kbb" is not declared`, `did you mean "kb"?`},
		{"a pattern without a store", "memory: {kb: {kind: collection, access: user}}\ntools: {ask: {source: ask.js, description: Ask, grants: {'chat*': read}}}", `the store "chat*" is not declared`, ``},
		{"a bad pattern", "collections: auto\ntools: {ask: {source: ask.js, description: Ask, grants: {'*': read}}}", `"*" is not a pattern of store names`, "write the beginning of a name followed by `*`"},
		{"a pattern in the middle", "collections: auto\ntools: {ask: {source: ask.js, description: Ask, grants: {'a*b*': read}}}", `"a*b*" is not a pattern of store names`, "write the beginning of a name followed by `*`"},
	} {
		_, problems := app.Load(files("app.yaml", tt.file+"\napp: shop\n", "ask.js", "return 1"), "app.yaml")
		text := problems.Error()
		if !strings.Contains(text, tt.problem) || !strings.Contains(text, tt.hint) {
			t.Errorf("%s: the problems are %s; want %s, with the hint %s", tt.name, text, tt.problem, tt.hint)
		}
	}
}
