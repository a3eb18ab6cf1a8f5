package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/model/openai"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// paidFiles is an app with a tool. The tool sends texts to an embedder and prompts to a model. The
// tool sends texts and prompts both before and after an effect that requires an approval.
var paidFiles = fstest.MapFS{
	"app.yaml": {Data: []byte(`
app: paid
memory:
  notes: {access: user, description: what was noted}
  kb: {kind: collection, access: user, description: what is known, embedding: small}
tools:
  seed: {source: seed.js, description: adds an entry, grants: {kb: readwrite}}
  tool:
    source: tool.js
    description: the tool under test
    grants: {notes: readwrite, kb: readwrite}
    models: [local]
    approval: {before: [set_content]}
`)},
	"seed.js": {Data: []byte(`await memory.remember("kb", "seed", {id: "seed"})`)},
	"tool.js": {Data: []byte(`
const ask = async text => (await model.chat("local", {messages: [{role: "user", content: text}]})).text;
await memory.get_content("notes");
await memory.remember("kb", "early", {id: "early"});
const found = await memory.recall("kb", "query before");
const first = await ask("prompt before");
await memory.set_content("notes", {first, found: found.count});
await memory.remember("kb", await ask("prompt after"), {id: "late"});
await memory.recall("kb", "query after")`)},
}

// paidTexts are the texts that a run of the tool sends to the provider.
var paidTexts = []string{"early", "query before", "prompt before", "prompt after", "re: prompt after", "query after"}

// openPaid opens a host for paidFiles. The host's cache of vectors is empty.
func openPaid(backend storage.Backend, url string, observers ...host.Observer) (*host.Host, error) {
	loaded, problems := app.Load(paidFiles, "app.yaml")
	if loaded == nil {
		return nil, problems
	}
	config, err := model.ReadConfig("models.yaml", fmt.Appendf(nil,
		"chat:\n  local: {base_url: %q, model: tiny}\nembeddings:\n  small: {base_url: %[1]q, model: tiny, dim: 4}\n", url))
	if err != nil {
		return nil, err
	}
	set, err := model.NewSet(config, map[string]model.Factory{"openai": openai.Factory()}, func(string) string { return "" })
	if err != nil {
		return nil, err
	}
	return host.Open(context.Background(), host.Options{
		App: loaded, Backend: backend, Engines: testEngines(), Models: set, SweepEvery: -1, Observers: observers,
	})
}

// crashPaid is the child process of TestPaidOnceAfterKill. crashPaid starts a run, which pauses,
// and then waits until the parent kills the process.
func crashPaid(path, url string) error {
	db, err := bolt.Open(path, nil)
	if err != nil {
		return err
	}
	h, err := openPaid(db, url)
	if err != nil {
		return err
	}
	token, err := pausePaid(context.Background(), h)
	if err != nil {
		return err
	}
	fmt.Println("paused", token)
	select {}
}

// pausePaid adds an entry, and then runs the tool until the run pauses.
func pausePaid(ctx context.Context, h *host.Host) (token string, err error) {
	if _, err := h.Run(ctx, host.Invocation{Tool: "seed", Caller: ann}); err != nil {
		return "", err
	}
	result, err := h.Run(ctx, host.Invocation{Tool: "tool", Caller: ann})
	if err != nil {
		return "", err
	}
	if result.Approval == nil {
		return "", errors.New("the run did not pause")
	}
	return result.Approval.Token, nil
}

// openPaidT is like openPaid, but fails the test after an error.
func openPaidT(t *testing.T, backend storage.Backend, server *modeltest.Server, observers ...host.Observer) *host.Host {
	t.Helper()
	h, err := openPaid(backend, server.URL(), observers...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// completePaid approves the effect. Then it checks that all executions together have sent each text
// exactly once.
func completePaid(t *testing.T, h *host.Host, server *modeltest.Server, token string) *report.Result {
	t.Helper()
	result, err := h.Approvals().Approve(t.Context(), approver, token)
	if err != nil || result.Status != report.Completed {
		t.Fatalf("Approve = %+v, %v; want a completed run", result, err)
	}
	var sent []string
	for _, r := range server.Requests() {
		sent = append(sent, r.Prompt)
	}
	want := append([]string{"seed"}, paidTexts...)
	slices.Sort(sent)
	slices.Sort(want)
	if !slices.Equal(sent, want) {
		t.Errorf("the provider received %q; want each text once: %q", sent, want)
	}
	return result
}

func newProvider(t *testing.T) *modeltest.Server {
	server := modeltest.Start()
	t.Cleanup(server.Close)
	return server
}

// If a run is approved after a restart, each text of the run is sent, and paid for, once. The
// recorded answers contain the vectors.
func TestPaidOnceAfterRestart(t *testing.T) { everywhere(t, testPaidOnceAfterRestart) }

func testPaidOnceAfterRestart(t *testing.T) {
	server, backend := newProvider(t), mem.New()
	h := openPaidT(t, backend, server)
	token, err := pausePaid(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	completePaid(t, openPaidT(t, backend, server), server, token)
}

// Each text of a run is sent, and paid for, once, even if the process is killed while the run is
// paused.
func TestPaidOnceAfterKill(t *testing.T) {
	server, path := newProvider(t), filepath.Join(t.TempDir(), "crash.db")
	token := killAt(t, path, "paid "+server.URL(), "paused")
	db, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	completePaid(t, openPaidT(t, db, server), server, token)
}

// afterFirst calls a function after the first execution of the tool.
type afterFirst struct {
	host.NopObserver
	call func()
}

func (o *afterFirst) AfterRun(_ context.Context, run host.RunInfo, _ json.RawMessage, _ host.Memory) error {
	if o.call != nil && run.Tool == "tool" {
		call := o.call
		o.call = nil
		call()
	}
	return nil
}

// If an approved run has a conflict, each text of the run is nevertheless sent, and paid for, only
// once.
func TestPaidOnceAfterConflict(t *testing.T) { everywhere(t, testPaidOnceAfterConflict) }

func testPaidOnceAfterConflict(t *testing.T) {
	server, observer := newProvider(t), &afterFirst{}
	h := openPaidT(t, mem.New(), server, observer)
	token, err := pausePaid(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	observer.call = func() {
		if err := setNotes(t.Context(), h, `{"other": 1}`); err != nil {
			t.Error(err)
		}
	}
	if result := completePaid(t, h, server, token); result.Attempts != 2 {
		t.Errorf("the approved run had %d attempts; want 2", result.Attempts)
	}
}

// If an approved run fails for a temporary reason, the answers to its external calls are kept.
// After the next approval, the run does not send these calls again, even if the host was restarted.
func TestPaidOnceAfterFailure(t *testing.T) {
	server, backend, observer := newProvider(t), mem.New(), &afterFirst{}
	h := openPaidT(t, backend, server, observer)
	token, err := pausePaid(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	observer.call = func() { cancel() }
	if _, err := h.Approvals().Approve(ctx, approver, token); !errors.Is(err, abi.Cancelled) {
		t.Fatalf("Approve = %v; want cancelled", err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	completePaid(t, openPaidT(t, backend, server), server, token)
}

// If a fault of the provider makes an approved run fail, the fault is not kept. After the next
// approval, the run sends the request again.
func TestProviderFailsApprovedRun(t *testing.T) {
	server := newProvider(t)
	h := openPaidT(t, mem.New(), server)
	token, err := pausePaid(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	server.Always(modeltest.Reply{Body: "<html>"})
	if _, err := h.Approvals().Approve(t.Context(), approver, token); !errors.Is(err, abi.Unavailable) {
		t.Fatalf("Approve = %v; want unavailable", err)
	}
	server.Always(modeltest.Reply{})
	result, err := h.Approvals().Approve(t.Context(), approver, token)
	if err != nil || result.Status != report.Completed {
		t.Fatalf("Approve = %+v, %v; want a completed run", result, err)
	}
	sent := map[string]int{}
	for _, r := range server.Requests() {
		sent[r.Prompt]++
	}
	for _, text := range []string{"early", "query before", "prompt before"} {
		if sent[text] != 1 {
			t.Errorf("the text %q was sent %d times; want once", text, sent[text])
		}
	}
}
