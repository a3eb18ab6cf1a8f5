package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/openai"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// A new entry has the same id in all executions of a run, so an effect that contains the id can be
// approved. Different runs create different ids.
func TestApprovalOfNewID(t *testing.T) {
	g := newGated(t, mem.New())
	files := fstest.MapFS{
		"app.yaml": {Data: []byte("app: shop\nmemory:\n  notes: {kind: collection, access: user, description: d}\n  refs: {access: user, description: d}\n" +
			"tools:\n  refer: {source: refer.js, description: d, grants: {notes: readwrite, refs: readwrite}, approval: {before: [set_content]}}\n")},
		"refer.js": {Data: []byte(`const a = await memory.remember("notes", "tea"), b = await memory.remember("notes", "milk");
await memory.set_content("refs", {a: a.id, b: b.id}); return [a.id, b.id]`)},
	}
	seen := map[string]bool{}
	for range 2 {
		g.open(files)
		pending := g.pause(host.Invocation{Tool: "refer"})
		g.open(files) // after a restart
		var ids []string
		if err := json.Unmarshal(g.approve(pending.Token, report.Completed).Output, &ids); err != nil {
			t.Fatal(err)
		}
		refs := content(t, g.Host, ann, abi.GetContent, "refs")
		for _, id := range ids {
			if seen[id] || !strings.Contains(string(pending.Effect.Arguments), id) || !strings.Contains(refs, id) {
				t.Errorf("the run created the id %s; want a new id, which was approved in %s and stored in %s", id, pending.Effect.Arguments, refs)
			}
			seen[id] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("the runs created the ids %v; want 4", seen)
	}
}

// searchModels returns models with the embedder "small".
func searchModels(t *testing.T, url string) *model.Set {
	t.Helper()
	config, err := model.ReadConfig("models.yaml", fmt.Appendf(nil, "embeddings:\n  small: {base_url: %q, model: tiny, dim: 4}\n", url))
	if err != nil {
		t.Fatal(err)
	}
	set, err := model.NewSet(config, map[string]model.Factory{"openai": openai.Factory()}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// gatedSearch is an app with tools whose searches require an approval. One tool handles the faults
// of its search.
var gatedSearch = fstest.MapFS{
	"app.yaml": {Data: []byte(`
app: test
memory:
  kb: {kind: collection, access: user, description: what is known, embedding: small}
  words: {kind: collection, access: user, description: what is known, embedding: lexical}
tools:
  find:
    source: find.js
    description: searches
    grants: {kb: readwrite, words: read}
    inputSchema: {type: object, properties: {q: {type: string}}}
    approval: {before: [recall]}
`)},
	"find.js": {Data: []byte(`try { await memory.recall("kb", "") } catch (e) { if (e.code !== "invalid_argument") throw e }
await memory.remember("kb", "new", {id: "new"});
await memory.recall("words", "local");
try { return (await memory.recall("kb", input.q, {mode: "vector"})).count } catch (e) { return e.code }`)},
	"agent.abl": {Data: []byte("AGENT: Clerk\nGOAL: \"Find\"\nMEMORY:\n  session:\n    - q\nFLOW:\n  go:\n    REASONING: false\n    SET:\n      - q = \"secret\"\n    CALL: find(q)\n    ON_FAIL:\n      RESPOND: \"not found\"\n    THEN: COMPLETE\n")},
}

// countCalls counts the calls of recall that observers see.
type countCalls struct {
	host.NopObserver
	recalls int
}

func (c *countCalls) MemoryCalled(_ context.Context, _ host.RunInfo, e host.CallEvent) {
	if e.Call.Op == abi.Recall {
		c.recalls++
	}
}

// A search that requires an approval sends nothing to the embedding model before the approval.
func TestApprovalBeforeSearch(t *testing.T) {
	server, calls := newProvider(t), &countCalls{}
	h := openApp(t, gatedSearch, func(o *host.Options) {
		o.Models, o.Observers = searchModels(t, server.URL()), []host.Observer{calls}
	})
	server.Dim = 4
	if _, err := host.CollectionsOf(h).Remember(t.Context(), ann, "kb", host.NewEntry{ID: "old", Content: text("old")}); err != nil {
		t.Fatal(err)
	}
	before := len(server.Requests())
	r, err := h.Run(t.Context(), host.Invocation{Tool: "find", Caller: ann, Input: json.RawMessage(`{"q": "secret"}`)})
	for _, query := range []string{"local", "secret"} {
		if err != nil || r.Approval == nil || !strings.Contains(string(r.Approval.Effect.Arguments), query) {
			t.Fatalf("Run = %+v, %v; want a request for approval of the query %q", r, err, query)
		}
		if n := len(server.Requests()) - before; n > 0 {
			t.Errorf("before the approval of the query %q, the provider received %d requests", query, n)
		}
		r, err = h.Approvals().Approve(t.Context(), approver, r.Approval.Token)
	}
	if err != nil || string(r.Output) != "2" {
		t.Errorf("the approved run = %+v, %v; want 2 entries", r, err)
	}
	if n := len(server.Requests()) - before; n != 2 { // the new entry and the query
		t.Errorf("the provider received %d requests; want 2", n)
	}
	if calls.recalls != 3+2+1 { // the invalid search in each of 3 executions, and the approved searches
		t.Errorf("observers saw %d searches; want 6", calls.recalls)
	}
}

// A live dry run sends nothing to the embedding model for an operation that requires an approval.
func TestLiveDryRunOfGatedSearch(t *testing.T) {
	for operation, code := range map[string]string{
		"recall":   `try { return (await memory.recall("kb", "secret")).count } catch (e) { return e.code }`,
		"remember": `try { return (await memory.remember("kb", "secret")).id } catch (e) { return e.code }`,
	} {
		server := newProvider(t)
		server.Dim = 4
		h := openApp(t, fstest.MapFS{
			"app.yaml": {Data: fmt.Appendf(nil, "app: test\nmemory:\n  kb: {kind: collection, access: user, description: d, embedding: small}\n"+
				"tools:\n  act: {source: act.js, description: d, grants: {kb: readwrite}, approval: {before: [%s]}}\n", operation)},
			"act.js": {Data: []byte(code)},
		}, func(o *host.Options) { o.Models = searchModels(t, server.URL()) })
		if _, err := host.CollectionsOf(h).Remember(t.Context(), ann, "kb", host.NewEntry{ID: "old", Content: text("old")}); err != nil {
			t.Fatal(err)
		}
		inv := host.Invocation{Tool: "act", Caller: ann, DryRun: true, Live: true}
		if r, err := h.Run(t.Context(), inv); !errors.Is(err, abi.AccessDenied) || !strings.Contains(err.Error(), operation+" requires an approval") {
			t.Errorf("a live dry run with %s = %s, %v; want access_denied", operation, r.Output, err)
		}
		requests(t, server, 1, "the first entry and a live dry run")
		inv.Live = false
		if r, err := h.Run(t.Context(), inv); err != nil || len(r.Warnings) == 0 {
			t.Errorf("a dry run with %s = %+v, %v; want a warning", operation, r, err)
		}
	}
}

// In a turn of an agent, a search that requires an approval fails, and sends nothing.
func TestGatedSearchOfAgent(t *testing.T) {
	server := newProvider(t)
	server.Dim = 4
	files := fstest.MapFS{"app.yaml": gatedSearch["app.yaml"], "agent.abl": gatedSearch["agent.abl"]}
	files["find.js"] = &fstest.MapFile{Data: []byte(`return (await memory.recall("kb", input.q, {mode: "vector"})).count`)}
	h := openApp(t, files, func(o *host.Options) { o.Models = searchModels(t, server.URL()) })
	if _, err := host.CollectionsOf(h).Remember(t.Context(), ann, "kb", host.NewEntry{ID: "old", Content: text("old")}); err != nil {
		t.Fatal(err)
	}
	before := len(server.Requests())
	result, err := h.Agents().Turn(t.Context(), host.Turn{Caller: annInS1})
	if err != nil || strings.Join(result.Messages, "") != "not found" {
		t.Errorf("Turn = %+v, %v; want the branch ON_FAIL", result, err)
	}
	if n := len(server.Requests()) - before; n > 0 {
		t.Errorf("the provider received %d requests; want 0", n)
	}
}
