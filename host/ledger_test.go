package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage/mem"
)

func keepLedger(o *host.Options) { o.Ledger = time.Hour }

const counter = `
	const seen = await memory.get_content("notes");
	if ($n < 0) throw new Error("secret text");
	if ($n > 0) await memory.set_content("notes", {n: (seen?.n ?? 0) + $n});
	return seen?.n ?? 0;`

// entries closes the host, so that the host writes its pending entries. Then it returns the entries
// of the ledger.
func entries(t *testing.T, h *host.Host, q ledger.Query) []ledger.Entry {
	t.Helper()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if q.Limit == 0 {
		q.Limit = 100
	}
	found, _, more, err := h.Ledger().Entries(t.Context(), host.Caller{}, q)
	if err != nil || more {
		t.Fatalf("Ledger = %v, more %t", err, more)
	}
	return found
}

func number(n int) json.RawMessage { return json.RawMessage(`{"n":` + itoa(n) + `}`) }

// The ledger contains every run, even if the run stored nothing. The ledger contains no content of
// records.
func TestLedger(t *testing.T) {
	h := openTool(t, counter, keepLedger)
	caller := host.Caller{User: "ann", Actor: "the gateway"}
	var want []string
	for _, n := range []int{1, 0, -1} {
		result, _ := run(h, host.Invocation{Caller: caller, Input: number(n)})
		want = append(want, result.RunID)
	}
	dry, err := run(h, host.Invocation{Caller: caller, Input: number(5), DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(h, host.Invocation{Caller: caller, Tool: "arbitrary input"}); err == nil {
		t.Fatal("an unknown tool was run")
	}
	found := entries(t, h, ledger.Query{})
	slices.SortFunc(found, func(a, b ledger.Entry) int { return a.At.Compare(b.At) }) // ids from the same millisecond are not ordered
	if len(found) != 5 {
		t.Fatalf("the ledger has %d entries; want 5: %+v", len(found), found)
	}
	if e := found[3]; e.Run != dry.RunID || e.Act != "dry_run" || len(e.Reads) != 1 || len(e.Writes) != 0 {
		t.Errorf("the entry of a dry run = %+v", e)
	}
	if e := found[4]; e.Tool != "" || e.Code != abi.NotFound {
		t.Errorf("the entry of an unknown tool = %+v", e)
	}
	found = found[:3]
	for i, e := range found {
		if e.Run != want[i] || e.Act != "run" || e.Tool != "tool" || e.User != "ann" || e.Actor != "the gateway" || e.Attempts != 1 || len(e.Reads) != 1 {
			t.Errorf("entry %d = %+v", i, e)
		}
	}
	if w := found[0].Writes; len(w) != 1 || w[0].Store != "notes" || w[0].Revision != 1 || len(found[1].Writes) != 0 || found[2].Code != abi.ToolError {
		t.Errorf("the entries = %+v", found)
	}
	if text, err := json.Marshal(found); err != nil || strings.Contains(string(text), "secret") {
		t.Errorf("the ledger contains the tool's message: %s, %v", text, err)
	}
}

func TestLedgerQueries(t *testing.T) {
	h := openTool(t, counter, keepLedger)
	for i := range 10 {
		user := host.Caller{User: []string{"ann", "bob"}[i%2], Session: "s" + itoa(i%2)}
		if _, err := run(h, host.Invocation{Caller: user, Input: number(i % 5)}); err != nil {
			t.Fatal(err)
		}
	}
	all := entries(t, h, ledger.Query{})
	if len(all) != 10 {
		t.Fatalf("%d entries; want 10", len(all))
	}
	middle, before := all[4].At, 0
	for _, e := range all {
		if e.At.Before(middle) {
			before++
		}
	}
	for _, test := range []struct {
		name string
		q    ledger.Query
		want int
	}{
		{"of a user", ledger.Query{User: "ann"}, 5},
		{"of a session", ledger.Query{Session: "s1"}, 5},
		{"that wrote", ledger.Query{Writes: true}, 8},
		{"of a store", ledger.Query{Store: "notes"}, 10},
		{"of another store", ledger.Query{Store: "totals"}, 0},
		{"of another tool", ledger.Query{Tool: "other"}, 0},
		{"since", ledger.Query{Since: middle}, len(all) - before},
		{"until", ledger.Query{Until: middle}, before},
		{"after", ledger.Query{After: all[6].Run}, 3},
	} {
		if found := entries(t, h, test.q); len(found) != test.want {
			t.Errorf("entries %s = %d; want %d", test.name, len(found), test.want)
		}
	}
	page, next, more, err := h.Ledger().Entries(t.Context(), host.Caller{}, ledger.Query{Limit: 3})
	if err != nil || len(page) != 3 || !more || next != all[2].Run {
		t.Errorf("a page = %d entries, next %s, %t, %v", len(page), next, more, err)
	}
	if found, _, _, err := h.Ledger().Entries(t.Context(), host.Caller{Tenant: "other"}, ledger.Query{Limit: 3}); err != nil || len(found) != 0 {
		t.Errorf("another tenant's ledger = %v, %v", found, err)
	}
}

// No ledger entry contains the id of an erased user. The ledger entry of the erasure must not
// contain the id either.
func TestEraseLedgerAndFiles(t *testing.T) {
	h := openTool(t, counter, keepLedger)
	caller := host.Caller{User: "ann", Session: "s1"}
	if _, err := run(h, host.Invocation{Caller: caller, Input: number(1)}); err != nil {
		t.Fatal(err)
	}
	text := "text from ann"
	file, err := h.Artifacts().Add(t.Context(), caller, artifact.Upload{Type: "txt", Filename: "a.txt", Content: []byte(text), Text: &text})
	if err != nil {
		t.Fatal(err)
	}
	erased, err := h.Users().Erase(t.Context(), caller)
	if err != nil || erased.Files != 1 || erased.Entries != 1 || erased.Stores["notes"] != 1 {
		t.Errorf("Erase = %+v, %v", erased, err)
	}
	if _, err := h.Artifacts().Content(t.Context(), caller, file.ID); !errors.Is(err, abi.NotFound) {
		t.Errorf("the file of an erased user = %v; want not_found", err)
	}
	for _, e := range entries(t, h, ledger.Query{}) {
		if e.User != "" || e.Act != "erase" {
			t.Errorf("after the erasure the ledger contains %+v", e)
		}
	}
}

// A dry run reports its changes but does not store them.
func TestDry(t *testing.T) {
	h := openTool(t, counter+`//`)
	if _, err := run(h, host.Invocation{Input: number(2)}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		result, err := run(h, host.Invocation{Input: number(3), DryRun: true, Key: "k", Caller: host.Caller{User: "ann", Session: "s1"}})
		if err != nil || len(result.Changes) != 1 {
			t.Fatalf("a dry run = %+v, %v", result, err)
		}
		if c := result.Changes[0]; c.Store != "notes" || string(c.Before) != `{"n":2}` || string(c.After) != `{"n":5}` || result.Repeated {
			t.Errorf("the change = %s: %s -> %s", c.Store, c.Before, c.After)
		}
	}
	if _, err := h.Sessions().Get(t.Context(), host.Caller{Session: "s1"}); !errors.Is(err, abi.NotFound) {
		t.Errorf("the session of a dry run = %v; want none", err)
	}
	if result, err := run(h, host.Invocation{Input: number(0)}); err != nil || string(result.Output) != "2" || result.Changes != nil {
		t.Errorf("after a dry run the store contains %s, %v", result.Output, err)
	}
}

// A dry run reads the metadata that a normal run would have stored in the session.
func TestDryMetadata(t *testing.T) {
	h := openTool(t, `return (await memory.get_content("sessionMeta")).metadata;`)
	caller := host.Caller{User: "ann", Session: "s1"}
	if _, err := h.Sessions().Start(t.Context(), caller, sessionStart(json.RawMessage(`{"a":1,"b":2}`))); err != nil {
		t.Fatal(err)
	}
	result, err := run(h, host.Invocation{Caller: caller, DryRun: true, Metadata: json.RawMessage(`{"b":null,"c":3}`)})
	if err != nil || string(result.Output) != `{"a":1,"c":3}` {
		t.Errorf("a dry run sees %s, %v", result.Output, err)
	}
	if s, err := h.Sessions().Get(t.Context(), caller); err != nil || string(s.Metadata) != `{"a":1,"b":2}` {
		t.Errorf("the session has %s, %v", s.Metadata, err)
	}
}

func TestCode(t *testing.T) {
	h := openTool(t, `return "the tool"`)
	code := &host.AdHocTool{Language: "javascript", Text: `return {was: await memory.get_content("notes"), n: $n}`,
		Grants: []declare.Grant{{Store: "notes", Verbs: []abi.Verb{abi.Read}}}}
	result, err := run(h, host.Invocation{Tool: "node 1", Code: code, Input: number(4)})
	if err != nil || string(result.Output) != `{"was":null,"n":4}` || result.Tool != "node 1" {
		t.Fatalf("code = %s, %v", result.Output, err)
	}
	code = &host.AdHocTool{Language: "javascript", Text: code.Text}
	if _, err := run(h, host.Invocation{Tool: "node 1", Code: code}); !errors.Is(err, abi.NotFound) {
		t.Errorf("code without grants = %v; want not_found", err)
	}
	for _, bad := range []host.AdHocTool{{}, {Language: "cobol", Text: "x"}, {Language: "javascript", Text: " "}, {Language: "javascript", Text: "return ("}} {
		if _, err := run(h, host.Invocation{Tool: "x", Code: &bad}); !errors.Is(err, abi.InvalidArgument) && !errors.Is(err, abi.SourceInvalid) {
			t.Errorf("code %+v = %v", bad, err)
		}
	}
}

// The number of ad-hoc tools can exceed the size of the cache. If an idempotency key was used with
// one ad-hoc tool, it cannot be used with another ad-hoc tool.
func TestManyCodes(t *testing.T) {
	h := openTool(t, `return 0`)
	for i := range 200 {
		code := &host.AdHocTool{Language: "javascript", Text: "return " + itoa(i%100)}
		if result, err := run(h, host.Invocation{Tool: "node", Code: code}); err != nil || string(result.Output) != itoa(i%100) {
			t.Fatalf("code %d = %s, %v", i, result.Output, err)
		}
	}
	for i, want := range []error{nil, abi.Conflict} {
		code := &host.AdHocTool{Language: "javascript", Text: "return " + itoa(i)}
		if _, err := run(h, host.Invocation{Tool: "node", Code: code, Key: "k"}); !errors.Is(err, want) {
			t.Errorf("code %d under one key = %v; want %v", i, err, want)
		}
	}
}

// sessionMeta lists all uploaded files, and contains the text of a file only if the file is active.
func TestFiles(t *testing.T) {
	h := openTool(t, `return JSON.stringify((await memory.get_content("sessionMeta")).artifacts.map(a => [a.filename, a.text ?? null, a.downloadUrl, a.isActive]))`,
		func(o *host.Options) {
			o.FileURL = func(tenant string, f artifact.Artifact) string { return "https://files/" + tenant + "/" + f.Filename }
		})
	caller := host.Caller{User: "ann", Session: "s1"}
	text := "hello"
	first, err := h.Artifacts().Add(t.Context(), caller, artifact.Upload{Type: "txt", Filename: "a.txt", Content: []byte("hello"), Text: &text})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Artifacts().Add(t.Context(), caller, artifact.Upload{Type: "png", Filename: "b.png", Content: []byte("png")}); err != nil {
		t.Fatal(err)
	}
	check := func(want string) {
		t.Helper()
		var seen string
		result, err := run(h, host.Invocation{Caller: caller})
		if err != nil || json.Unmarshal(result.Output, &seen) != nil || seen != want {
			t.Errorf("the tool sees %s, %v; want %s", result.Output, err, want)
		}
	}
	check(`[["a.txt","hello","https://files/default/a.txt",true],["b.png",null,"https://files/default/b.png",true]]`)
	if _, err := h.Artifacts().SetActive(t.Context(), caller, first.ID, false); err != nil {
		t.Fatal(err)
	}
	check(`[["a.txt",null,"https://files/default/a.txt",false],["b.png",null,"https://files/default/b.png",true]]`)
	if content, err := h.Artifacts().Content(t.Context(), caller, first.ID); err != nil || string(content) != "hello" {
		t.Errorf("File = %q, %v", content, err)
	}
	bob := host.Caller{User: "bob", Session: "s1"}
	if _, err := h.Artifacts().Remove(t.Context(), bob, first.ID); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("removing a file of another user's session = %v", err)
	}
	if removed, err := h.Artifacts().Remove(t.Context(), caller, first.ID); err != nil || removed.Filename != "a.txt" {
		t.Errorf("RemoveFile = %v, %v", removed, err)
	}
	check(`[["b.png",null,"https://files/default/b.png",true]]`)
	for _, id := range []string{first.ID, "", "../x", "nope"} {
		if _, err := h.Artifacts().Remove(t.Context(), caller, id); !errors.Is(err, abi.NotFound) {
			t.Errorf("RemoveFile(%q) of an unknown file = %v", id, err)
		}
	}
	if content, err := h.Artifacts().Content(t.Context(), caller, first.ID); !errors.Is(err, abi.NotFound) {
		t.Errorf("a removed file = %q, %v", content, err)
	}
	if first, err = h.Artifacts().Add(t.Context(), caller, artifact.Upload{Type: "txt", Filename: "a.txt", Content: []byte("hello"), Text: &text}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Artifacts().Add(t.Context(), bob, artifact.Upload{Filename: "c"}); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("a file in another user's session = %v", err)
	}
	if _, err := h.Artifacts().SetActive(t.Context(), bob, first.ID, true); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("changing a file in another user's session = %v", err)
	}
	if _, err := h.Artifacts().Add(t.Context(), host.Caller{User: "ann"}, artifact.Upload{Filename: "c"}); !errors.Is(err, abi.NoSession) {
		t.Errorf("a file without a session = %v", err)
	}
	for i := range artifact.MaxFiles {
		if _, err := h.Artifacts().Add(t.Context(), caller, artifact.Upload{Filename: itoa(i)}); (err == nil) != (i < artifact.MaxFiles-2) {
			t.Fatalf("file %d = %v", i+3, err)
		}
	}
	big := make([]byte, artifact.MaxBytes+1)
	if _, err := h.Artifacts().Add(context.Background(), host.Caller{Session: "s2"}, artifact.Upload{Content: big}); !errors.Is(err, abi.TooLarge) {
		t.Errorf("a file over the limit = %v", err)
	}
}

// If a store is declared at run time, it still exists when the app is opened again. A store that is
// declared at run time has the same rules as a store that the app file declares.
func TestDeclaredStores(t *testing.T) {
	backend := mem.New()
	ctx := t.Context()
	st := declare.Store{Name: "extra", Title: "Extra", Access: declare.ScopeUser, Strict: true, Schema: json.RawMessage(`{"type":"object"}`), Retention: declare.Retention{For: time.Hour}}
	if err := memory.SaveDeclared(ctx, backend, "acme", "test", st); err != nil {
		t.Fatal(err)
	}
	stores, err := memory.Declared(ctx, backend, "acme", "test")
	if err != nil || len(stores) != 1 || stores[0].Name != "extra" || stores[0].Title != "Extra" || stores[0].Access != declare.ScopeUser ||
		!stores[0].Strict || stores[0].Retention != st.Retention || string(stores[0].Schema) != `{"type":"object"}` {
		t.Errorf("Declared = %+v, %v", stores, err)
	}
	if stores, err := memory.Declared(ctx, backend, "other", "test"); err != nil || len(stores) != 0 {
		t.Errorf("another tenant's = %+v, %v", stores, err)
	}
}

// If the context of a run is canceled with a custom cause, the run fails with the code cancelled.
func TestCancelledForACause(t *testing.T) {
	for name, source := range map[string]string{
		"in the guest": `console.log("begun"); for (;;) {}`,
		"at the end":   `console.log("begun"); const end = Date.now() + 200; while (Date.now() < end) {} return 1`,
	} {
		h := openTool(t, source)
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		result, err := h.Run(ctx, host.Invocation{Tool: "tool", Caller: ann, OnLog: func(int, abi.LogLine) { cancel(errors.New("custom cause")) }})
		if !errors.Is(err, abi.Cancelled) || strings.Contains(result.Error.Message, "reason") {
			t.Errorf("%s: %v; want cancelled", name, err)
		}
	}
}

// If a run is a repetition, or if its key conflicts with an earlier run, it does not change its
// session.
func TestRepeatedRunLeavesMetadata(t *testing.T) {
	h := openTool(t, `return 1`)
	caller := host.Caller{User: "ann", Session: "s1"}
	first := host.Invocation{Caller: caller, Key: "k", Metadata: json.RawMessage(`{"plan":"old"}`)}
	if _, err := run(h, first); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Sessions().Start(t.Context(), caller, sessionStart(json.RawMessage(`{"plan":"new"}`))); err != nil {
		t.Fatal(err)
	}
	if result, err := run(h, first); err != nil || !result.Repeated {
		t.Fatalf("the repeated run = %+v, %v", result, err)
	}
	other := first
	other.Input, other.Metadata = number(7), json.RawMessage(`{"plan":"other"}`)
	if _, err := run(h, other); !errors.Is(err, abi.Conflict) {
		t.Fatalf("another run under the key = %v", err)
	}
	if s, err := h.Sessions().Get(t.Context(), caller); err != nil || string(s.Metadata) != `{"plan":"new"}` {
		t.Errorf("the metadata is %s, %v", s.Metadata, err)
	}
}

// If more ad-hoc tools run concurrently than the cache can contain, no tool is closed while it
// runs.
func TestManyCodesAtOnce(t *testing.T) {
	h := openTool(t, `return 0`)
	var all sync.WaitGroup
	for i := range 150 {
		all.Go(func() {
			code := &host.AdHocTool{Language: "javascript", Text: "const end = Date.now() + 5; while (Date.now() < end) {} return " + itoa(i)}
			inv := host.Invocation{Tool: "node", Code: code, Caller: host.Caller{User: "user" + itoa(i)}, Timeout: time.Minute}
			if result, err := run(h, inv); err != nil || string(result.Output) != itoa(i) {
				t.Errorf("code %d = %s, %v", i, result.Output, err)
			}
		})
	}
	all.Wait()
}

// If a user claims an anonymous session, an erasure of the user also removes the session's files.
// If a user is erased during an upload, the upload fails.
func TestErasedFiles(t *testing.T) {
	h := openTool(t, `return 1`)
	file, err := h.Artifacts().Add(t.Context(), host.Caller{Session: "s1"}, artifact.Upload{Filename: "a", Content: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	ann := host.Caller{User: "ann", Session: "s1"}
	if _, err := h.Sessions().Start(t.Context(), ann, session.Start{}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if erased, err := h.Users().Erase(t.Context(), ann); err != nil || erased.Files != 1 {
		t.Errorf("Erase = %+v, %v", erased, err)
	}
	if _, err := h.Artifacts().Content(t.Context(), ann, file.ID); !errors.Is(err, abi.NotFound) {
		t.Errorf("the file = %v; want not_found", err)
	}
	late := host.Caller{User: "ann", Session: "s2"}
	if _, err := h.Artifacts().Add(t.Context(), late, artifact.Upload{Filename: "b", Began: began}); !errors.Is(err, abi.Cancelled) {
		t.Errorf("an upload from before the erasure = %v; want cancelled", err)
	}
	if _, err := h.Sessions().Get(t.Context(), late); !errors.Is(err, abi.NotFound) {
		t.Errorf("the session of that upload = %v; want none", err)
	}
	if _, err := h.Artifacts().Add(t.Context(), late, artifact.Upload{Filename: "b", Began: time.Now()}); err != nil {
		t.Errorf("an upload from after the erasure = %v", err)
	}
}

// If the erasure of a user cancels a run, the run does not store data of this user again.
func TestErasedRunNamesNobody(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	slow := stub{run: func(ctx context.Context, h engine.Host) (engine.Output, error) {
		_, err := h.Call(ctx, abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"notes"`), json.RawMessage(`{"n":1}`)}})
		close(begun)
		<-goOn
		return engine.Output{}, err
	}}
	h := openTool(t, "x", keepLedger, slow.with(nil))
	ended := make(chan error)
	go func() {
		_, err := run(h, host.Invocation{Caller: host.Caller{User: "zoe", Session: "s1"}})
		ended <- err
	}()
	<-begun
	if _, err := h.Users().Erase(t.Context(), host.Caller{User: "zoe"}); err != nil {
		t.Fatal(err)
	}
	close(goOn)
	if err := <-ended; err == nil {
		t.Error("the run of an erased user succeeded")
	}
	for _, e := range entries(t, h, ledger.Query{}) {
		if e.User != "" || e.Session != "" {
			t.Errorf("an entry contains an erased user: %+v", e)
		}
	}
}
