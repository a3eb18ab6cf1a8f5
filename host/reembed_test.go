package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/model/openai"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

const reembedApp = `
app: helpdesk
memory:
  kb: {kind: collection, access: application, erase: never, embedding: %[1]s}
  diary: {kind: collection, access: user, retention: 90d, embedding: %[1]s}
`

// openModel opens a host. The collections of the host use either an embedding model of a server or
// the embedder "lexical".
func openModel(t *testing.T, backend storage.Backend, server *modeltest.Server, name string, dim int, change ...func(*host.Options)) *host.Host {
	t.Helper()
	text := fmt.Sprintf("embeddings:\n  small: {base_url: %q, model: %s, dim: %d, timeout: 1s}\n", server.URL(), name, dim)
	config, err := model.ReadConfig("models.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	set, err := model.NewSet(config, map[string]model.Factory{"openai": openai.Factory()}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	embedding := "small"
	if name == "lexical" {
		embedding = name
	}
	with := func(o *host.Options) { o.Models, o.Backend, o.Ledger = set, backend, time.Hour }
	return openApp(t, fstest.MapFS{"app.yaml": {Data: fmt.Appendf(nil, reembedApp, embedding)}}, append([]func(*host.Options){with}, change...)...)
}

func startEmbedder(t *testing.T, dim int) *modeltest.Server {
	t.Helper()
	server := modeltest.Start()
	t.Cleanup(server.Close)
	server.Dim = dim
	return server
}

// fill stores entries that belong to the app, and entries that belong to two users.
func fill(t *testing.T, h *host.Host, n int) {
	t.Helper()
	for i := range n {
		remember(t, h, host.Caller{}, "kb", host.NewEntry{ID: fmt.Sprintf("e%03d", i), Namespace: fmt.Sprint(i % 2), Content: text(fmt.Sprintf("entry %03d", i)), TTL: "1d"})
	}
	for _, user := range []string{"ann", "bob"} {
		remember(t, h, host.Caller{User: user}, "diary", host.NewEntry{ID: "d1", Content: text("tea of " + user)})
	}
}

func recallIDs(t *testing.T, h *host.Host, c host.Caller, q host.RecallEntries) (ids []string) {
	t.Helper()
	found, err := host.CollectionsOf(h).Recall(t.Context(), c, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		ids = append(ids, e.ID)
	}
	return ids
}

// entriesOf returns all entries of a collection.
func entriesOf(t *testing.T, h *host.Host, name string) (all []memory.Entry) {
	t.Helper()
	for q := (memory.EntryQuery{Collection: name, Limit: 1000}); ; {
		found, next, err := host.CollectionsOf(h).List(t.Context(), host.Caller{}, q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
		if q.After = next; next == "" {
			return all
		}
	}
}

// A move changes the vectors and revisions of entries, and nothing else. Before the move, the
// collection cannot be used with the new model.
func TestReembed(t *testing.T) { onEachBackend(t, testReembed) }

func testReembed(t *testing.T, backend storage.Backend) {
	old, fresh := startEmbedder(t, 2), startEmbedder(t, 5)
	h := openModel(t, backend, old, "tiny", 2)
	fill(t, h, 150)
	before := entriesOf(t, h, "kb")
	h = openModel(t, backend, fresh, "large", 5)
	c := host.CollectionsOf(h)
	if _, err := c.Recall(t.Context(), host.Caller{}, host.RecallEntries{Collection: "kb", Namespace: "0", Query: "entry"}); !errors.Is(err, abi.Unavailable) ||
		!strings.Contains(err.Error(), "tiny") || !strings.Contains(err.Error(), "large") || !strings.Contains(abi.FaultOf(err).Hint, "toolrun collection reembed kb") {
		t.Errorf("Recall before the move: %v", err)
	}
	steps := 0
	done, err := c.Reembed(t.Context(), host.Caller{Actor: "op"}, "kb", func(host.Reembedding) { steps++ })
	if err != nil || done.Moved != 150 || !done.Done || done.Dim != 5 || !strings.Contains(done.Embedder, "large") {
		t.Fatalf("Reembed = %+v, %v after %d steps", done, err, steps)
	}
	after := entriesOf(t, h, "kb")
	for i := range before {
		was, is := before[i], after[i]
		if was.Revision >= is.Revision {
			t.Errorf("the entry %s has the revision %d after %d", is.ID, is.Revision, was.Revision)
		}
		was.Revision = is.Revision
		if fmt.Sprintf("%+v", was) != fmt.Sprintf("%+v", is) {
			t.Errorf("the entry %+v has become %+v", was, is)
		}
	}
	if got := recallIDs(t, h, host.Caller{}, host.RecallEntries{Collection: "kb", Namespace: "1", Query: "entry 003", Mode: "vector", Limit: 1000}); !slices.Contains(got, "e003") {
		t.Errorf("the entry e003 is not among %d results", len(got))
	}
	if got := recallIDs(t, h, host.Caller{}, host.RecallEntries{Collection: "kb", Namespace: "1", Query: "entry 003", Limit: 1}); len(got) != 1 || got[0] != "e003" {
		t.Errorf("the best result is %v; want e003", got)
	}
	d, err := c.Show(t.Context(), host.Caller{}, "kb")
	if err != nil || d.Dim != 5 || d.MovingTo != nil || d.Entries != 150 {
		t.Errorf("Show = %+v, %v", d, err)
	}
	if again, err := c.Reembed(t.Context(), host.Caller{}, "kb", nil); err != nil || !again.Done || again.Moved != 0 {
		t.Errorf("a second Reembed = %+v, %v", again, err)
	}
	if err := h.Close(); err != nil { // writes the ledger
		t.Fatal(err)
	}
	h = openModel(t, backend, fresh, "large", 5)
	entries, _, _, err := h.Ledger().Entries(t.Context(), host.Caller{}, ledger.Query{Limit: 1000})
	written := 0
	for _, e := range entries {
		if e.Act == "reembed" && e.Actor == "op" {
			written += len(e.Writes)
		}
	}
	if err != nil || written != 150 {
		t.Errorf("the ledger contains %d written entries, %v; want 150", written, err)
	}
}

// If the model fails, the move stops. Another call continues the move. No text is embedded twice.
func TestReembedContinues(t *testing.T) { onEachBackend(t, testReembedContinues) }

func testReembedContinues(t *testing.T, backend storage.Backend) {
	fill(t, openModel(t, backend, startEmbedder(t, 2), "tiny", 2), 150)
	fresh := startEmbedder(t, 5)
	h := openModel(t, backend, fresh, "large", 5)
	fresh.Script(modeltest.Reply{})
	fresh.Always(modeltest.Reply{Status: 401})
	state, err := host.CollectionsOf(h).ReembedStep(t.Context(), host.Caller{}, "kb")
	if err == nil || state.Done || state.Moved == 0 || state.Moved == 150 {
		t.Fatalf("ReembedStep with a failing model = %+v, %v", state, err)
	}
	d, err := host.CollectionsOf(h).Show(t.Context(), host.Caller{}, "kb")
	if err != nil || d.Dim != 2 || d.MovingTo == nil || d.MovingTo.Dim != 5 {
		t.Errorf("Show during the move = %+v, %v", d, err)
	}
	fresh.Always(modeltest.Reply{})
	moving := host.RecallEntries{Collection: "kb", Namespace: "1", Query: "entry 149", Limit: 1}
	if got := recallIDs(t, h, host.Caller{}, moving); !slices.Equal(got, []string{"e149"}) {
		t.Errorf("a search by words during the move finds %v", got)
	}
	remember(t, h, host.Caller{}, "kb", host.NewEntry{ID: "new", Namespace: "0", Content: text("a new entry")})
	requests := len(fresh.Requests())
	h = openModel(t, backend, fresh, "large", 5)
	done, err := host.CollectionsOf(h).Reembed(t.Context(), host.Caller{}, "kb", nil)
	if err != nil || !done.Done || done.Moved != 150 {
		t.Fatalf("Reembed = %+v, %v; want 150 entries", done, err)
	}
	if n := len(fresh.Requests()) - requests; n > 4 {
		t.Errorf("%d requests for the rest of the entries", n)
	}
	if got := recallIDs(t, h, host.Caller{}, host.RecallEntries{Collection: "kb", Namespace: "0", Query: "a new entry", Limit: 1}); !slices.Equal(got, []string{"new"}) {
		t.Errorf("the entry of the time of the move is not found: %v", got)
	}
}

// If an entry is replaced while the model computes its vector, the entry keeps the new content. If
// an entry is removed while the model computes its vector, the entry stays removed.
func TestReembedSkipsChangedEntries(t *testing.T) {
	backend, fresh := mem.New(), startEmbedder(t, 5)
	fill(t, openModel(t, backend, startEmbedder(t, 2), "tiny", 2), 60)
	h := openModel(t, backend, fresh, "large", 5)
	c := host.CollectionsOf(h)
	fresh.Script(modeltest.Reply{})
	fresh.Always(modeltest.Reply{Status: 401})
	if state, err := c.ReembedStep(t.Context(), host.Caller{}, "kb"); err == nil || state.Moved == 0 {
		t.Fatalf("ReembedStep = %+v, %v", state, err)
	}
	fresh.Always(modeltest.Reply{})
	remember(t, h, host.Caller{}, "kb", host.NewEntry{ID: "other", Content: text("replaced")}) // the cache now contains the vector
	release, ended, before := fresh.Hold(), make(chan error), len(fresh.Requests())
	go func() {
		_, err := c.Reembed(context.Background(), host.Caller{}, "kb", nil)
		ended <- err
	}()
	if err := fresh.Await(t.Context(), before+1); err != nil {
		t.Fatal(err)
	}
	remember(t, h, host.Caller{}, "kb", host.NewEntry{ID: "e059", Namespace: "1", Content: text("replaced")})
	if done, err := c.Forget(t.Context(), host.Caller{}, host.ForgetEntries{Collection: "kb", Namespace: "1", ID: "e057"}); err != nil || done.Count != 1 {
		t.Fatalf("Forget = %+v, %v", done, err)
	}
	release()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if e, err := c.Get(t.Context(), host.Caller{}, "kb", "1", "e059"); err != nil || e == nil || string(e.Content) != `"replaced"` {
		t.Errorf("the replaced entry is %+v, %v", e, err)
	}
	if e, err := c.Get(t.Context(), host.Caller{}, "kb", "1", "e057"); err != nil || e != nil {
		t.Errorf("the removed entry is %+v, %v", e, err)
	}
}

// During a move, a process that still uses the previous model can read entries, but cannot write
// entries. A process that uses the previous model can also move the entries back. In this test, the
// vectors of both models have the same dimension.
func TestReembedWithPreviousModel(t *testing.T) {
	backend, tiny, large := mem.New(), startEmbedder(t, 5), startEmbedder(t, 5)
	old := openModel(t, backend, tiny, "tiny", 5)
	fill(t, old, 150)
	fresh := openModel(t, backend, large, "large", 5)
	large.Script(modeltest.Reply{})
	large.Always(modeltest.Reply{Status: 401})
	if state, err := host.CollectionsOf(fresh).ReembedStep(t.Context(), host.Caller{}, "kb"); err == nil || state.Moved == 0 {
		t.Fatalf("ReembedStep = %+v, %v", state, err)
	}
	for id, want := range map[string]bool{"e000": false, "e148": true} { // the first batch contains one entry
		found := recallIDs(t, old, host.Caller{}, host.RecallEntries{Collection: "kb", Namespace: "0", Query: "entry " + id[1:], Mode: "vector", Limit: 1000})
		if slices.Contains(found, id) != want {
			t.Errorf("the previous model finds %s: %t; want %t", id, !want, want)
		}
	}
	_, err := host.CollectionsOf(old).Remember(t.Context(), host.Caller{}, "kb", host.NewEntry{Content: text("x")})
	if !errors.Is(err, abi.Unavailable) || !strings.Contains(err.Error(), "being moved") {
		t.Errorf("Remember with the previous model: %v", err)
	}
	if done, err := host.CollectionsOf(old).Reembed(t.Context(), host.Caller{}, "kb", nil); err != nil || !done.Done || done.Moved == 0 || done.Moved == 150 {
		t.Errorf("Reembed with the previous model = %+v, %v; want only the entries that were moved", done, err)
	}
	remember(t, old, host.Caller{}, "kb", host.NewEntry{ID: "x", Content: text("x")})
}

// At any time, only one process can move a collection. If this process dies, another process can
// continue the move when the lease has expired.
func TestReembedLease(t *testing.T) {
	backend, large, began := mem.New(), startEmbedder(t, 5), time.Now()
	var ahead atomic.Int64 // of the clock
	clock := func(o *host.Options) { o.Now = func() time.Time { return began.Add(time.Duration(ahead.Load())) } }
	fill(t, openModel(t, backend, startEmbedder(t, 2), "tiny", 2, clock), 10)
	h := openModel(t, backend, large, "large", 5, clock)
	release, ended := large.Hold(), make(chan error)
	go func() {
		_, err := host.CollectionsOf(h).ReembedStep(context.Background(), host.Caller{}, "kb")
		ended <- err
	}()
	if err := large.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := host.CollectionsOf(h).ReembedStep(t.Context(), host.Caller{}, "kb"); !errors.Is(err, abi.Conflict) {
		t.Errorf("ReembedStep during another one: %v; want conflict", err)
	}
	ahead.Store(int64(3 * time.Minute)) // this has the same effect as killing the process
	release()
	<-ended
	if done, err := host.CollectionsOf(h).Reembed(t.Context(), host.Caller{}, "kb", nil); err != nil || !done.Done {
		t.Errorf("Reembed after the end of the lease = %+v, %v", done, err)
	}
}

// During a move, entries are written and read, and a user is erased. No data must be lost, and no
// data of the erased user must be stored afterwards.
func TestReembedOnline(t *testing.T) { onEachBackend(t, testReembedOnline) }

func testReembedOnline(t *testing.T, backend storage.Backend) {
	fill(t, openModel(t, backend, startEmbedder(t, 2), "tiny", 2), 100)
	previous := openModel(t, backend, startEmbedder(t, 2), "tiny", 2)
	for i := range 60 {
		remember(t, previous, host.Caller{User: "ann"}, "diary", host.NewEntry{ID: fmt.Sprint("canary", i), Content: text("the canary of ann")})
		remember(t, previous, host.Caller{User: "zoe"}, "diary", host.NewEntry{ID: fmt.Sprint("z", i), Content: text("tea of zoe")})
	}
	h := openModel(t, backend, startEmbedder(t, 0), "lexical", 1)
	c := host.CollectionsOf(h)
	var all sync.WaitGroup
	all.Go(func() {
		for i := range 20 {
			_, err := c.Remember(context.Background(), host.Caller{User: "bob"}, "diary", host.NewEntry{ID: fmt.Sprint("n", i), Content: text(fmt.Sprint("written ", i))})
			if err != nil && !errors.Is(err, abi.Unavailable) { // before the start of the move
				t.Errorf("Remember: %v", err)
			}
			if err != nil {
				time.Sleep(time.Millisecond)
			}
		}
	})
	all.Go(func() {
		for range 20 {
			found, err := c.Recall(context.Background(), host.Caller{User: "bob"}, host.RecallEntries{Collection: "diary", Query: "tea of bob", Limit: 1000})
			if err != nil && !errors.Is(err, abi.Unavailable) {
				t.Errorf("Recall: %v", err)
			}
			for _, e := range found {
				if strings.Contains(string(e.Content), "ann") {
					t.Errorf("bob finds %s", e.Content)
				}
			}
		}
	})
	all.Go(func() {
		if _, err := h.Users().Erase(context.Background(), host.Caller{User: "ann"}); err != nil {
			t.Errorf("Erase: %v", err)
		}
	})
	for _, name := range []string{"kb", "diary"} {
		if done, err := c.Reembed(t.Context(), host.Caller{}, name, nil); err != nil || !done.Done {
			t.Errorf("Reembed of %s = %+v, %v", name, done, err)
		}
	}
	all.Wait()
	for _, e := range entriesOf(t, h, "diary") {
		if e.User == "ann" {
			t.Errorf("the entry %s of the erased user is stored", e.ID)
		}
	}
	if got := recallIDs(t, h, host.Caller{User: "zoe"}, host.RecallEntries{Collection: "diary", Query: "tea", Mode: "vector", Limit: 1000}); len(got) != 60 {
		t.Errorf("%d entries of zoe are found by their vectors; want 60", len(got))
	}
	for namespace, want := range map[string]int{"0": 50, "1": 50} {
		if got := recallIDs(t, h, host.Caller{}, host.RecallEntries{Collection: "kb", Namespace: namespace, Query: "entry", Mode: "vector", Limit: 1000}); len(got) != want {
			t.Errorf("%d entries of the namespace %s are found by their vectors; want %d", len(got), namespace, want)
		}
	}
}

// If a move is interrupted, its stored progress contains the key of an entry. If the user of this
// entry is erased, the stored progress is removed, and the move starts from the beginning.
func TestReembedForgetsErasedUser(t *testing.T) {
	backend, large := mem.New(), startEmbedder(t, 5)
	old := openModel(t, backend, startEmbedder(t, 2), "tiny", 2)
	for i := range 100 {
		remember(t, old, host.Caller{User: "canary_ann"}, "diary", host.NewEntry{ID: fmt.Sprint(i), Content: text(fmt.Sprint("tea ", i))})
	}
	remember(t, old, host.Caller{User: "zoe_of_another_town"}, "diary", host.NewEntry{ID: "z", Content: text("tea of zoe")})
	h := openModel(t, backend, large, "large", 5)
	large.Script(modeltest.Reply{})
	large.Always(modeltest.Reply{Status: 401})
	if state, err := host.CollectionsOf(h).ReembedStep(t.Context(), host.Caller{}, "diary"); err == nil || state.Moved == 0 {
		t.Fatalf("ReembedStep = %+v, %v", state, err)
	}
	if !holds(t, backend, "canary_ann") {
		t.Fatal("the user has no data")
	}
	if _, err := h.Users().Erase(t.Context(), host.Caller{User: "canary_ann"}); err != nil {
		t.Fatal(err)
	}
	if holds(t, backend, "canary_ann") {
		t.Error("the backend contains the name of the erased user")
	}
	large.Always(modeltest.Reply{})
	if done, err := host.CollectionsOf(h).Reembed(t.Context(), host.Caller{}, "diary", nil); err != nil || !done.Done || done.Moved != 1 {
		t.Errorf("Reembed after the erasure = %+v, %v", done, err)
	}
}

// TestReembedLongText moves entries to a model that rejects long texts. The vector of a long text is
// the vector of its beginning. A model that rejects all texts must end the move.
func TestReembedLongText(t *testing.T) {
	backend, inner := mem.New(), startEmbedder(t, 3)
	h := openModel(t, backend, inner, "lexical", 3)
	fill(t, h, 20)
	long := host.NewEntry{ID: "long", Content: text(strings.Repeat("poison ", 20_000))}
	if _, err := host.CollectionsOf(h).Remember(t.Context(), host.Caller{User: "mallory"}, "kb", long); err != nil {
		t.Fatal(err)
	}
	limit, requests := 0, 0
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		body, _ := io.ReadAll(r.Body)
		var in struct{ Input []string }
		_ = json.Unmarshal(body, &in)
		if slices.ContainsFunc(in.Input, func(s string) bool { return len(s) > limit }) {
			http.Error(w, `{"error":{"message":"maximum context length is 8192 tokens"}}`, http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	moved, err := openReembed(backend, proxy.URL+"/v1", 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = moved.Close() })
	if _, err := host.CollectionsOf(moved).Reembed(t.Context(), host.Caller{}, "kb", nil); !errors.Is(err, abi.InvalidArgument) || requests > 20 {
		t.Errorf("Reembed with a model that rejects all texts = %v after %d requests; want invalid_argument and at most 20", err, requests)
	}
	limit = 32 << 10
	if done, err := host.CollectionsOf(moved).Reembed(t.Context(), host.Caller{}, "kb", nil); err != nil || !done.Done {
		t.Errorf("Reembed = %+v, %v; want a complete move", done, err)
	}
}

// The function "holds" reports whether a record of the backend contains a text. The function
// "holds" searches the key and the content of each record.
func holds(t *testing.T, backend storage.Backend, text string) bool {
	t.Helper()
	found, err := backend.Scan(t.Context(), "", "", 100_000)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(found, func(r storage.Record) bool {
		return strings.Contains(string(r.Key), text) || strings.Contains(string(r.Content), text)
	})
}

func TestReembedFaults(t *testing.T) {
	backend := mem.New()
	h := openModel(t, backend, startEmbedder(t, 2), "tiny", 2)
	c := host.CollectionsOf(h)
	if _, err := c.ReembedStep(t.Context(), host.Caller{}, "none"); !errors.Is(err, abi.NotFound) {
		t.Errorf("ReembedStep of a missing collection: %v", err)
	}
	if done, err := c.ReembedStep(t.Context(), host.Caller{}, "kb"); err != nil || !done.Done || done.Moved != 0 {
		t.Errorf("ReembedStep of an empty collection = %+v, %v", done, err)
	}
	fill(t, h, 3)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	other := openModel(t, backend, startEmbedder(t, 5), "large", 5)
	if _, err := host.CollectionsOf(other).ReembedStep(cancelled, host.Caller{}, "kb"); !errors.Is(err, abi.Cancelled) {
		t.Errorf("ReembedStep without time: %v", err)
	}
}
