package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/model/openai"
)

const embeddingApp = `
app: test
memory:
  notes: {access: user, description: what was noted}
  kb: {kind: collection, access: user, description: what is known, embedding: small}
  words: {kind: collection, access: user, description: what is known, embedding: lexical}
  closed: {kind: collection, access: user, description: what is known, embedding: closed}
tools:
  tool:
    source: tool.js
    description: the tool under test
    grants: {notes: readwrite, kb: readwrite, words: readwrite, closed: readwrite}
    inputSchema: {type: object, properties: {step: {type: string}, text: {type: string}}}
`

// openEmbedding opens a host with a JavaScript tool. The server provides the embedder "small". The
// embedder "closed" belongs to another tenant, so the tool cannot use it.
func openEmbedding(t *testing.T, source, extra string, change ...func(*host.Options)) (*host.Host, *modeltest.Server) {
	t.Helper()
	server := modeltest.Start()
	t.Cleanup(server.Close)
	server.Dim = 2
	entry := func(extra string) string {
		return `{base_url: "` + server.URL() + `", model: tiny, dim: 2, timeout: 1s` + extra + "}\n"
	}
	config, err := model.ReadConfig("models.yaml", []byte("embeddings:\n  small: "+entry(extra)+"  closed: "+entry(", tenants: [other]")))
	if err != nil {
		t.Fatal(err)
	}
	set, err := model.NewSet(config, map[string]model.Factory{"openai": openai.Factory()}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"app.yaml": {Data: []byte(embeddingApp)}, "tool.js": {Data: []byte(source)}}
	with := func(o *host.Options) { o.Models = set }
	return openApp(t, files, append([]func(*host.Options){with}, change...)...), server
}

// embeddingSteps is a tool that executes the steps in its input.
const embeddingSteps = `
const ids = found => found.results.map(r => r.id).sort();
switch ($step) {
case "remember": return (await memory.remember("kb", $text, {id: $text})).id;
case "recall": return ids(await memory.recall("kb", $text, {mode: "vector"}));
case "hybrid": return ids(await memory.recall("kb", $text));
case "catch":
	try { return ids(await memory.recall("kb", $text)) } catch (e) { return e.code }
}`

func step(name, text string) json.RawMessage {
	in, _ := json.Marshal(map[string]string{"step": name, "text": text})
	return in
}

// mustStep executes a step and returns its output.
func mustStep(t *testing.T, h *host.Host, inv host.Invocation) string {
	t.Helper()
	result, err := run(h, inv)
	if err != nil {
		t.Fatalf("Run of %s = %v", inv.Input, err)
	}
	return string(result.Output)
}

func requests(t *testing.T, server *modeltest.Server, want int, reason string) {
	t.Helper()
	if n := len(server.Requests()); n != want {
		t.Errorf("the provider received %d requests; want %d: %s", n, want, reason)
	}
}

// All vectors of a run are requested with one request.
func TestEmbeddingsAreBatched(t *testing.T) { everywhere(t, testEmbeddingsAreBatched) }

func testEmbeddingsAreBatched(t *testing.T) {
	h, server := openEmbedding(t, `
		for (const text of ["a", "b", "a", "c"]) await memory.remember("kb", text, {namespace: text === "c" ? "n" : undefined});
		return (await memory.recall("words", "x")).count`, "")
	result, err := run(h, host.Invocation{})
	if err != nil {
		t.Fatal(err)
	}
	requests(t, server, 1, "one batch, none for the local embedder")
	var sent struct{ Input []string }
	if err := json.Unmarshal(server.Requests()[0].Body, &sent); err != nil || fmt.Sprint(sent.Input) != "[a b c]" {
		t.Errorf("the request contains the texts %v, %v; want each text once", sent.Input, err)
	}
	if used := result.Usage.Model; used.Calls != 1 || used.InputTokens != 3 {
		t.Errorf("the usage is %+v; want 1 call and 3 tokens", used)
	}
}

func TestRecallByVector(t *testing.T) { everywhere(t, testRecallByVector) }

func testRecallByVector(t *testing.T) {
	h, server := openEmbedding(t, embeddingSteps, "")
	if got := mustStep(t, h, host.Invocation{Input: step("recall", "x")}); got != "[]" {
		t.Errorf("recall before the first entry = %s; want nothing", got)
	}
	requests(t, server, 0, "nothing was remembered")
	mustStep(t, h, host.Invocation{Input: step("remember", "x")})
	if got := mustStep(t, h, host.Invocation{Input: step("recall", "x")}); got != `["x"]` {
		t.Errorf("recall = %s; want the entry", got)
	}
	requests(t, server, 2, "one for the entry and one for the query")
}

// If the provider fails, the run must fail with the fault in the table, and must store nothing.
func TestEmbeddingFailures(t *testing.T) {
	for _, failure := range modeltest.Failures() {
		t.Run(failure.Name, func(t *testing.T) {
			gate, with := newGate(t, admission.Limits{Running: 1})
			h, server := openEmbedding(t, embeddingSteps, "", with)
			server.Always(failure.Reply)
			_, err := run(h, host.Invocation{Input: step("remember", "x")})
			if !errors.Is(err, abi.Code(failure.Code)) {
				t.Errorf("Run = %v; want %s", err, failure.Code)
			}
			if n := len(server.Requests()); n > failure.Requests {
				t.Errorf("the provider received %d requests; want at most %d", n, failure.Requests)
			}
			server.Always(modeltest.Reply{})
			if got := mustStep(t, h, host.Invocation{Input: step("recall", "x")}); got != "[]" {
				t.Errorf("recall after the failure = %s; want nothing", got)
			}
			if n := gate.Parked(); n != 0 {
				t.Errorf("%d runs are parked; want none", n)
			}
		})
	}
}

// If a recall fails, the tool can handle the fault.
func TestRecallFailureIsCaught(t *testing.T) {
	h, server := openEmbedding(t, embeddingSteps, "")
	mustStep(t, h, host.Invocation{Input: step("remember", "x")})
	server.Always(modeltest.Reply{Body: "<html>"})
	if got := mustStep(t, h, host.Invocation{Input: step("catch", "y")}); got != `"unavailable"` {
		t.Errorf("the tool caught %s; want unavailable", got)
	}
}

// If a run is executed again after a conflict, it does not request, or pay for, its vectors again.
func TestEmbeddingsArePaidOnce(t *testing.T) { everywhere(t, testEmbeddingsArePaidOnce) }

func testEmbeddingsArePaidOnce(t *testing.T) {
	gate, with := newGate(t, admission.Limits{Running: 1})
	h, server := openEmbedding(t, `
		const before = await memory.get_content("notes");
		await memory.remember("kb", "x", {id: "x"});
		const found = await memory.recall("kb", "y");
		await memory.remember("kb", "z" + (before?.other ?? 0), {id: "z"});
		await memory.set_content("notes", {n: found.count})`, "", with)
	release := server.Hold()
	defer release()
	wait := started(h, host.Invocation{})
	if err := server.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if n := gate.Parked(); n != 1 {
		t.Errorf("%d runs are parked; want 1", n)
	}
	if err := setNotes(t.Context(), h, `{"other": 1}`); err != nil {
		t.Fatal(err)
	}
	release()
	result, err := wait()
	if err != nil || result.Attempts != 2 {
		t.Fatalf("Run = %+v, %v; want 2 attempts", result, err)
	}
	if len(result.Orphaned) != 0 {
		t.Errorf("the orphaned calls are %v; want none, because the second attempt repeats all", result.Orphaned)
	}
	prompts := map[string]int{}
	for _, r := range server.Requests() {
		prompts[r.Prompt]++
	}
	for prompt, n := range prompts {
		if n != 1 {
			t.Errorf("the text %q was sent %d times; want once", prompt, n)
		}
	}
	if result.Usage.Model.Calls != len(server.Requests()) {
		t.Errorf("the usage has %d calls; want %d", result.Usage.Model.Calls, len(server.Requests()))
	}
	if n := gate.Parked(); n != 0 {
		t.Errorf("%d runs are parked; want none", n)
	}
}

// If an earlier run of the same user has embedded a text, the text is not sent again. Users do not
// share vectors.
func TestVectorsAreCached(t *testing.T) {
	var models *model.Set
	h, server := openEmbedding(t, embeddingSteps, "", func(o *host.Options) { models = o.Models })
	bob := host.Caller{User: "bob"}
	for _, c := range []struct {
		caller host.Caller
		erase  bool
		want   int
		reason string
	}{
		{ann, false, 1, "the first time"}, {ann, false, 1, "the vector is cached"}, {bob, false, 2, "another user"},
		{ann, true, 3, "the user was erased"},
	} {
		if c.erase {
			if _, err := h.Users().Erase(t.Context(), c.caller); err != nil {
				t.Fatal(err)
			}
		}
		mustStep(t, h, host.Invocation{Caller: c.caller, Input: step("remember", "x")})
		requests(t, server, c.want, c.reason)
	}
	for range 2 {
		mustStep(t, h, host.Invocation{Caller: bob, Input: step("recall", "x")})
	}
	if hits, misses := models.Vectors().Counts(); hits != 1 || misses != 4 {
		t.Errorf("%d hits and %d misses of the cache; want 1 and 4", hits, misses)
	}
	if total := models.Totals(model.Embeddings); total.Calls != 4 || total.InputTokens == 0 || models.Totals(model.Chats).Calls != 0 {
		t.Errorf("the totals are %+v; want 4 calls to embedding models", total)
	}
}

// A search in a dry run compares only words, so the dry run sends no request to an embedder.
func TestDryRunMakesNoVectors(t *testing.T) {
	h, server := openEmbedding(t, embeddingSteps, "")
	mustStep(t, h, host.Invocation{Input: step("remember", "renewals")})
	before := len(server.Requests())
	result, err := run(h, host.Invocation{DryRun: true, Input: step("remember", "other")})
	if err != nil || len(result.Changes) == 0 {
		t.Errorf("the dry run = %+v, %v; want the entry as a change", result, err)
	}
	if got := mustStep(t, h, host.Invocation{DryRun: true, Input: step("hybrid", "renewal")}); got != `["renewals"]` {
		t.Errorf("recall in a dry run = %s; want the entry with the same words", got)
	}
	if _, err := run(h, host.Invocation{DryRun: true, Input: step("recall", "renewal")}); !errors.Is(err, abi.Unavailable) {
		t.Errorf("recall by vectors in a dry run = %v; want unavailable", err)
	}
	if _, err := run(h, host.Invocation{Mocks: model.Mocks{}, Input: step("remember", "mocked")}); !errors.Is(err, abi.Unavailable) {
		t.Errorf("a run with mocks = %v; want unavailable", err)
	}
	requests(t, server, before, "dry runs and runs with mocks")
	mustStep(t, h, host.Invocation{DryRun: true, Live: true, Input: step("recall", "renewal")})
	requests(t, server, before+1, "a live dry run")
}

// A tenant can use an embedder only if the embedder is configured for it, and only within its
// budget.
func TestEmbeddingRights(t *testing.T) {
	h, server := openEmbedding(t, `await memory.remember("closed", "x")`, "")
	if _, err := run(h, host.Invocation{}); !errors.Is(err, abi.Unavailable) {
		t.Errorf("remember with the embedder of another tenant = %v; want unavailable", err)
	}
	requests(t, server, 0, "the tenant cannot use the embedder")
	h, server = openEmbedding(t, embeddingSteps, ", tokens_per_day: {user: 2}")
	for i := range 2 {
		mustStep(t, h, host.Invocation{Input: step("remember", fmt.Sprint(i))})
	}
	if _, err := run(h, host.Invocation{Input: step("remember", "more")}); !errors.Is(err, abi.QuotaExceeded) {
		t.Errorf("remember after all tokens of the day = %v; want quota_exceeded", err)
	}
	requests(t, server, 2, "the tokens of the day are used")
}

// If a fault ends the run, the tool cannot handle this fault.
func TestTooManyEmbeddings(t *testing.T) { everywhere(t, testTooManyEmbeddings) }

func testTooManyEmbeddings(t *testing.T) {
	h, server := openEmbedding(t, `
		await memory.remember("kb", "x");
		for (let i = 0; i < 5; i++) try { await memory.recall("kb", "q" + i) } catch (e) {}`, "", func(o *host.Options) { o.Limits.ExternalCalls = 3 })
	if _, err := run(h, host.Invocation{}); !errors.Is(err, abi.CallLimit) {
		t.Errorf("Run = %v; want call_limit", err)
	}
	requests(t, server, 3, "the limit of external calls")
}

// afterRun is an observer that stores an entry in a collection after the tool has ended.
type afterRun struct{ host.NopObserver }

func (afterRun) AfterRun(ctx context.Context, _ host.RunInfo, _ json.RawMessage, m host.Memory) error {
	_, err := m.Call(ctx, abi.Call{Op: abi.Remember, Args: []json.RawMessage{json.RawMessage(`"kb"`), json.RawMessage(`"after"`), json.RawMessage(`{"id": "after"}`)}})
	return err
}

// An observer can add entries after the tool has ended. The run must have a slot at the gate while
// the vectors of these entries are computed.
func TestEmbeddingAfterRun(t *testing.T) {
	gate, with := newGate(t, admission.Limits{Running: 1})
	h, server := openEmbedding(t, embeddingSteps, "", with, func(o *host.Options) { o.Observers = []host.Observer{afterRun{}} })
	mustStep(t, h, host.Invocation{Input: step("remember", "x")})
	requests(t, server, 2, "one for the tool and one for the observer")
	if got := mustStep(t, h, host.Invocation{Input: step("recall", "after")}); got != `["after","x"]` && got != `["after"]` {
		t.Errorf("recall = %s; want the entry of the observer", got)
	}
	for range 3 { // each run gets the gate's only slot
		mustStep(t, h, host.Invocation{Input: step("remember", "y")})
	}
	if n := gate.Parked(); n != 0 {
		t.Errorf("%d runs are parked; want none", n)
	}
}

// If an operator uses a collection, the collection's embedder is also used.
func TestOperatorEmbeds(t *testing.T) {
	gate, with := newGate(t, admission.Limits{Running: 1})
	h, server := openEmbedding(t, embeddingSteps, "", with)
	c := host.CollectionsOf(h)
	if _, err := c.Remember(t.Context(), ann, "kb", host.NewEntry{ID: "x", Content: json.RawMessage(`"x"`)}, host.NewEntry{ID: "y", Content: json.RawMessage(`"y"`)}); err != nil {
		t.Fatal(err)
	}
	found, err := c.Recall(t.Context(), ann, host.RecallEntries{Collection: "kb", Query: "x", Mode: "vector"})
	if err != nil || len(found) == 0 || found[0].ID != "x" {
		t.Errorf("Recall = %v, %v; want the entry x first", found, err)
	}
	requests(t, server, 2, "one for both entries and one for the query")
	server.Always(modeltest.Reply{Status: 401})
	if _, err := c.Remember(t.Context(), ann, "kb", host.NewEntry{ID: "z", Content: json.RawMessage(`"z"`)}); !errors.Is(err, abi.Unavailable) {
		t.Errorf("Remember = %v; want unavailable", err)
	}
	ended, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	server.Always(modeltest.Reply{Delay: time.Hour})
	if _, err := c.Remember(ended, ann, "kb", host.NewEntry{ID: "z", Content: json.RawMessage(`"z2"`)}); err == nil {
		t.Error("Remember with a provider that hangs succeeded; want an error")
	}
	server.Always(modeltest.Reply{})
	if got := mustStep(t, h, host.Invocation{Input: step("recall", "x")}); got != `["x","y"]` && got != `["x"]` {
		t.Errorf("recall = %s; want the entries of the operator", got)
	}
	if n := gate.Parked(); n != 0 {
		t.Errorf("%d runs are parked; want none", n)
	}
}
