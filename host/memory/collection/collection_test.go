package collection_test

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
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// fixture contains a Service, a clock that the test controls, and an embedder that counts the
// embedded texts.
type fixture struct {
	t *testing.T
	*memory.Service
	backend storage.Backend
	now     time.Time
	model   *embedder
}

// stores returns the declared collections.
func stores() []declare.Store {
	collection := func(name string, access declare.Scope, erase declare.EraseRule) declare.Store {
		return declare.Store{Name: name, Kind: declare.KindCollection, Access: access, Collection: declare.Collection{Embedding: "words", Erase: erase}}
	}
	return []declare.Store{
		collection("kb", declare.ScopeApplication, declare.EraseNever),
		collection("tips", declare.ScopeApplication, ""),
		collection("notes", declare.ScopeUser, ""),
		{Name: "news", Kind: declare.KindCollection, Access: declare.ScopeApplication, Retention: declare.Retention{For: time.Hour}},
		{Name: "chat", Kind: declare.KindCollection, Access: declare.ScopeSession, Retention: declare.Retention{Session: true}},
	}
}

func open(t *testing.T) *fixture { t.Helper(); return openWith(t, func(*memory.Config) {}) }

// openWith opens a Service with a configuration that the given function has changed.
func openWith(t *testing.T, change func(*memory.Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, backend: mem.New(), now: time.Date(2026, 4, 30, 16, 20, 0, 0, time.UTC), model: &embedder{}}
	f.reopen(change)
	return f
}

// reopen opens the Service again on the same backend.
func (f *fixture) reopen(change func(*memory.Config)) {
	f.t.Helper()
	cfg := memory.Config{
		App: "shop", Backend: f.backend, Now: func() time.Time { return f.now }, Stores: stores(), AutoCollections: true, Embedder: f.model,
	}
	change(&cfg)
	s, err := memory.New(cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	f.Service = s
}

// embedder is an Embedder with the models "words" and "lexical". The vector of a text is 1 in the
// dimension of the first known word that the text contains, and 0 in all other dimensions.
type embedder struct {
	id      string     // default: words-1
	dim     int        // default: len(known)
	mu      sync.Mutex // guards the following fields
	batches [][]string
	queries int
	// If broken is not nil, Embed returns the results of broken, such as invalid vectors.
	broken func([][]float32) ([][]float32, error)
}

// The variable known contains the words that have a dimension. The last dimension is for texts
// without these words.
var known = []string{"tea", "coffee", "refund", "invoice", "ship", ""}

func (e *embedder) Space(name string) (string, int, error) {
	if name != "words" && name != declare.Lexical {
		return "", 0, abi.Faultf(abi.Unavailable, "no embedding model has the name %q", name)
	}
	id, dim := e.id, e.dim
	if id == "" {
		id = "words-1"
	}
	if dim == 0 {
		dim = len(known)
	}
	return id, dim, nil
}

func (e *embedder) Embed(_ context.Context, name string, texts []string, query bool) ([][]float32, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if query {
		e.queries++
	} else {
		e.batches = append(e.batches, slices.Clone(texts))
	}
	_, dim, err := e.Space(name)
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, dim)
		at := slices.IndexFunc(known, func(word string) bool { return strings.Contains(text, word) })
		vectors[i][at] = 1
	}
	if e.broken != nil {
		return e.broken(vectors)
	}
	return vectors, nil
}

func as(user string) partition.Caller {
	return partition.Caller{Tenant: "acme", User: user, Run: "run_1"}
}

var (
	ann       = as("ann")
	bob       = as("bob")
	anonymous = as("")
)

// operation returns an abi.Call. The arguments of the call are given as JSON values, separated by
// commas.
func (f *fixture) operation(op, args string) abi.Call {
	f.t.Helper()
	call := abi.Call{Op: op}
	if err := json.Unmarshal([]byte("["+args+"]"), &call.Args); err != nil {
		f.t.Fatalf("%s: %v", args, err)
	}
	return call
}

// call performs an operation in a separate transaction. call returns the reply, or the text of the
// fault.
func (f *fixture) call(c partition.Caller, op, args string) string {
	f.t.Helper()
	reply, _, err := f.Do(f.t.Context(), c, memory.Operator(), f.operation(op, args))
	return f.text(reply, err)
}

func (f *fixture) text(reply json.RawMessage, err error) string {
	f.t.Helper()
	if fault, ok := errors.AsType[*abi.Fault](err); ok {
		return string(fault.Code) + ": " + fault.Message
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return string(reply)
}

// want performs a call of an operator and checks that the reply begins with the given text.
func (f *fixture) want(c partition.Caller, op, args, want string) {
	f.t.Helper()
	if got := f.call(c, op, args); !strings.HasPrefix(got, want) {
		f.t.Errorf("%s(%s) as %q = %s; want %s", op, args, c.User, got, want)
	}
}

// recall returns the ids that the operation "recall" finds, in the order of the results.
func (f *fixture) recall(c partition.Caller, args string) string {
	f.t.Helper()
	return f.ids(f.call(c, abi.Recall, args))
}

// ids returns the ids in a reply to the operation "recall". If the reply is a fault, ids returns
// the reply.
func (f *fixture) ids(reply string) string {
	f.t.Helper()
	var found struct {
		Results []struct{ ID string }
		Count   int
	}
	if json.Unmarshal([]byte(reply), &found) != nil {
		return reply
	}
	ids := make([]string, len(found.Results))
	for i, r := range found.Results {
		ids[i] = r.ID
	}
	if len(ids) != found.Count {
		f.t.Errorf("recall = %s; want the number of results as the count", reply)
	}
	return strings.Join(ids, " ")
}

// run executes a body in a transaction.
func (f *fixture) run(c partition.Caller, tx memory.Tx, body func(call func(op, args string) string)) (memory.Done, error) {
	f.t.Helper()
	tx.Caller, tx.Authority = c, memory.Operator()
	return f.Transact(f.t.Context(), &tx, func(ctx context.Context, v *memory.View) error {
		body(func(op, args string) string {
			return f.text(v.Call(ctx, f.operation(op, args)))
		})
		return nil
	})
}

func TestRemember(t *testing.T) {
	f := open(t)
	f.want(anonymous, abi.Recall, `"kb", "tea"`, `{"results":[],"count":0}`)
	if f.model.queries != 0 {
		t.Errorf("a recall before the first remember embedded %d queries; want none", f.model.queries)
	}
	f.want(anonymous, abi.Remember, `"kb", "green tea", {"id": "1", "metadata": {"b": 2, "a": [1]}}`, `{"success":true,"id":"1","expires_at":null}`)
	f.want(anonymous, abi.Remember, `"kb", {"drink": "coffee", "at": 3}, {"id": "2"}`, `{"success":true,"id":"2","expires_at":null}`)
	f.want(anonymous, abi.Recall, `"kb", "tea"`, `{"results":[{"id":"1","content":"green tea","metadata":{"a":[1],"b":2},"score":`)
	f.want(anonymous, abi.Recall, `"kb", "coffee", {"limit": 1}`, `{"results":[{"id":"2","content":{"at":3,"drink":"coffee"},"metadata":{},"score":`)
	f.want(anonymous, abi.Remember, `"kb", "black coffee", {"id": "1"}`, `{"success":true,"id":"1"`)
	if got := f.recall(anonymous, `"kb", "coffee", {"mode": "vector", "threshold": 0.5}`); got != "1 2" && got != "2 1" {
		t.Errorf("after a replacement, recall found %q; want both entries", got)
	}
	if got := f.recall(anonymous, `"kb", "tea", {"mode": "text"}`); got != "" {
		t.Errorf("recall found the replaced text: %q", got)
	}
	first := f.call(anonymous, abi.Remember, `"kb", "shipping"`)
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(first), &made); err != nil || len(made.ID) != 24 {
		t.Errorf("remember without an id = %s; want a new id", first)
	}
	if got := f.recall(anonymous, `"kb", "ship", {"limit": 1}`); got != made.ID {
		t.Errorf("recall = %q; want %q", got, made.ID)
	}
	f.want(anonymous, abi.Recall, `"kb", "ship", {"limit": 1, "scores": true, "mode": "vector"}`, `{"results":[{"id":"`+made.ID+`","content":"shipping","metadata":{},"score":1,"vector":1,"text":`)
}

func TestScopes(t *testing.T) {
	f := open(t)
	f.want(ann, abi.Remember, `"notes", "tea of ann", {"id": "1"}`, `{"success":true`)
	f.want(ann, abi.Remember, `"notes", "tea of ann in s1", {"id": "1", "namespace": "s1"}`, `{"success":true`)
	f.want(bob, abi.Remember, `"notes", "tea of bob", {"id": "2"}`, `{"success":true`)
	f.want(anonymous, abi.Remember, `"notes", "tea of no user", {"id": "2"}`, `no_user: `)
	f.want(anonymous, abi.Recall, `"notes", "tea"`, `no_user: `)
	f.want(ann, abi.Recall, `"notes", "tea"`, `{"results":[{"id":"1","content":"tea of ann",`)
	f.want(ann, abi.Recall, `"notes", "tea", {"namespace": "s1"}`, `{"results":[{"id":"1","content":"tea of ann in s1",`)
	for args, want := range map[string]string{`"notes", "tea"`: "2", `"notes", "tea", {"namespace": "s1"}`: "", `"notes", "tea", {"namespace": "ann"}`: ""} {
		if got := f.recall(bob, args); got != want {
			t.Errorf("recall(%s) as bob found %q; want %q", args, got, want)
		}
	}
}

// An undeclared collection has one namespace for the app and one namespace for each user.
func TestAutoCollections(t *testing.T) {
	f := open(t)
	f.want(ann, abi.Remember, `"conversations", "tea of ann", {"id": "1", "namespace": "s1"}`, `{"success":true`)
	f.want(ann, abi.Remember, `"conversations", "tea for all", {"id": "2"}`, `{"success":true`)
	for user, want := range map[string]string{"ann": "1", "bob": ""} {
		if got := f.recall(as(user), `"conversations", "tea", {"namespace": "s1"}`); got != want {
			t.Errorf("recall of the namespace of ann as %s found %q; want %q", user, got, want)
		}
		if got := f.recall(as(user), `"conversations", "tea"`); got != "2" {
			t.Errorf("recall of the default namespace as %s found %q; want 2", user, got)
		}
	}
	f.want(anonymous, abi.Remember, `"conversations", "x", {"namespace": "s1"}`, `no_user: a namespace with a name in the undeclared collection "conversations" is per-user, but the caller has no user`)
	f.want(ann, abi.Remember, `"KB", "x"`, `not_found: `)
	f.want(ann, abi.Remember, `"facts", "x"`, `not_found: `)
	f.want(ann, abi.GetContent, `"conversations"`, `not_found: `)
	f.reopen(func(c *memory.Config) { c.AutoCollections = false })
	f.want(ann, abi.Remember, `"conversations", "x"`, `not_found: `)
}

// A run can add entries and then search. The search finds these entries before the commit. The
// vectors of all entries that a run adds are computed in one batch.
func TestOwnWrites(t *testing.T) {
	f := open(t)
	f.want(ann, abi.Remember, `"notes", "old tea", {"id": "1"}`, `{"success":true`)
	f.want(ann, abi.Remember, `"notes", "stored tea", {"id": "2"}`, `{"success":true`)
	f.model.batches = nil
	done, err := f.run(ann, memory.Tx{}, func(call func(op, args string) string) {
		call(abi.Remember, `"notes", "new coffee", {"id": "1"}`)
		call(abi.Remember, `"notes", "more tea", {"id": "3"}`)
		call(abi.Remember, `"notes", "even more tea", {"id": "4"}`)
		call(abi.Forget, `"notes", {"id": "2"}`)
		call(abi.Forget, `"notes", {"id": "4"}`)
		if got := f.ids(call(abi.Recall, `"notes", "tea", {"mode": "vector", "threshold": 0.5}`)); got != "3" {
			t.Errorf("recall in the run found %q; want its own entry 3", got)
		}
		call(abi.Remember, `"notes", "ship"`)
		call(abi.Remember, `"tips", "invoice"`)
		if got := f.recall(ann, `"notes", "tea", {"mode": "vector", "threshold": 0.5}`); got != "1 2" {
			t.Errorf("another run found %q before the commit; want 1 2", got)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.model.batches) != 3 || len(f.model.batches[0]) != 2 {
		t.Errorf("the batches are %q; want one before the recall, and one for each collection at the end", f.model.batches)
	}
	var items []string
	for _, w := range done.Effects.Writes {
		items = append(items, w.Op+" "+w.Store+" "+w.Item)
	}
	if len(items) != 6 || items[0] != "set notes /1" || !slices.Contains(items, "delete notes /2") {
		t.Errorf("the effects are %q; want those of the entries", items)
	}
	if got := f.recall(ann, `"notes", "tea", {"mode": "vector", "threshold": 0.5}`); got != "3" {
		t.Errorf("after the commit, recall found %q; want 3", got)
	}
}

// The operation "recall" does not add entries to the read set. Therefore the run commits even if
// the namespace has changed.
func TestRecallJoinsNothing(t *testing.T) {
	f := open(t)
	f.want(ann, abi.Remember, `"notes", "tea", {"id": "1"}`, `{"success":true`)
	attempts := 0
	done, err := f.run(ann, memory.Tx{}, func(call func(op, args string) string) {
		attempts++
		call(abi.Recall, `"notes", "tea"`)
		f.call(ann, abi.Remember, `"notes", "other tea", {"id": "1"}`)
		call(abi.Remember, `"notes", "coffee", {"id": "2"}`)
	})
	if err != nil || attempts != 1 {
		t.Errorf("the run had %d attempts (%v); want 1", attempts, err)
	}
	want := []report.ReadEffect{{Store: "notes", Item: "/1", Revision: 1}}
	if !slices.Equal(done.Effects.Reads, want) {
		t.Errorf("the reads are %+v; want %+v", done.Effects.Reads, want)
	}
}

// A run creates the same ids in every attempt, and all of these ids are different.
func TestMadeIDs(t *testing.T) {
	f := open(t)
	f.want(ann, abi.Remember, `"notes", "start", {"id": "1"}`, `{"success":true`)
	var attempts [][]string
	_, err := f.run(ann, memory.Tx{}, func(call func(op, args string) string) {
		call(abi.Forget, `"notes", {"id": "1"}`) // adds the entry to the read set
		attempts = append(attempts, []string{call(abi.Remember, `"notes", "a"`), call(abi.Remember, `"notes", "b"`)})
		if len(attempts) == 1 {
			f.call(ann, abi.Remember, `"notes", "changed", {"id": "1"}`)
		}
	})
	if err != nil || len(attempts) != 2 || !slices.Equal(attempts[0], attempts[1]) || attempts[0][0] == attempts[0][1] {
		t.Errorf("the ids of the attempts are %q (%v); want two attempts with the same two ids", attempts, err)
	}
}

func TestForget(t *testing.T) {
	f := open(t)
	for _, args := range []string{
		`"kb", "a", {"id": "1", "metadata": {"source": "x"}}`, `"kb", "b", {"id": "2", "metadata": {"source": "y"}}`, `"kb", "c", {"id": "3"}`,
		`"kb", "d", {"id": "1", "namespace": "n"}`, `"kb", "e", {"id": "2", "namespace": "n"}`,
	} {
		f.want(anonymous, abi.Remember, args, `{"success":true`)
	}
	for _, tt := range []struct{ args, want string }{
		{`"kb", {}`, `invalid_argument: the selector selects no entries`},
		{`"kb"`, `invalid_argument: the selector selects no entries`},
		{`"kb", {"all": false}`, `invalid_argument: the selector selects no entries`},
		{`"kb", {"id": "1", "all": true}`, `invalid_argument: the selector contains more than one`},
		{`"kb", {"filter": {}}`, `invalid_argument: the filter of the selector is empty`},
		{`"kb", {"id": "9"}`, `{"count":0,"more":false}`},
		{`"kb", {"filter": {"source": "x"}}`, `{"count":1,"more":false}`},
		{`"kb", {"id": "1", "namespace": "n"}`, `{"count":1,"more":false}`},
		{`"kb", {"namespace": "n"}`, `{"count":1,"more":false}`},
		{`"kb", {"all": true}`, `{"count":2,"more":false}`},
		{`"kb", {"all": true}`, `{"count":0,"more":false}`},
	} {
		f.want(anonymous, abi.Forget, tt.args, tt.want)
	}
}

// One call of "forget" removes a limited number of entries.
func TestForgetMany(t *testing.T) {
	f := open(t)
	for range 2 {
		if _, err := f.run(anonymous, memory.Tx{}, func(call func(op, args string) string) {
			for range 300 {
				call(abi.Remember, `"kb", "tea"`)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	f.want(anonymous, abi.Forget, `"kb", {"filter": {"no": "match"}}`, `{"count":0,"more":false}`)
	f.want(anonymous, abi.Forget, `"kb", {"all": true}`, `{"count":500,"more":true}`)
	f.want(anonymous, abi.Forget, `"kb", {"all": true}`, `{"count":100,"more":false}`)
	if got := f.recall(anonymous, `"kb", "tea"`); got != "" {
		t.Errorf("recall found %q; want nothing", got)
	}
}

func TestLifetimes(t *testing.T) {
	f := open(t)
	f.want(ann, abi.Remember, `"notes", "tea", {"id": "1", "ttl": "30m"}`, `{"success":true,"id":"1","expires_at":"2026-04-30T16:50:00.000000Z"}`)
	f.want(ann, abi.Remember, `"notes", "tea", {"id": "2"}`, `{"success":true,"id":"2","expires_at":null}`)
	f.want(ann, abi.Remember, `"news", "tea", {"id": "3"}`, `{"success":true,"id":"3","expires_at":"2026-04-30T17:20:00.000000Z"}`)
	f.want(ann, abi.Remember, `"news", "tea", {"id": "3", "ttl": "2h"}`, `invalid_argument: the ttl exceeds the store's retention of 1h`)
	f.now = f.now.Add(30 * time.Minute)
	if got := f.recall(ann, `"notes", "tea"`); got != "2" {
		t.Errorf("recall found %q; want only the entry that has not expired", got)
	}
	f.now = f.now.Add(30 * time.Minute)
	if got := f.recall(ann, `"news", "tea"`); got != "" {
		t.Errorf("recall found %q after the retention", got)
	}
	f.reopen(func(c *memory.Config) { c.Stores[2].Retention.For = 10 * time.Minute })
	if got := f.recall(ann, `"notes", "tea"`); got != "" {
		t.Errorf("recall found %q after the retention was shortened", got)
	}
	chat := partition.Caller{Tenant: "acme", User: "ann", Session: "s1", Run: "run_1"}
	f.want(chat, abi.Remember, `"chat", "tea", {"id": "4"}`, `{"success":true`)
	if got := f.recall(chat, `"chat", "tea"`); got != "4" {
		t.Errorf("recall in the session found %q; want 4", got)
	}
	if _, err := f.Sessions().End(t.Context(), chat); err != nil {
		t.Fatal(err)
	}
	chat.Session = "s2"
	if got := f.recall(chat, `"chat", "tea"`); got != "" {
		t.Errorf("recall in another session found %q", got)
	}
}

func TestErasure(t *testing.T) {
	f := open(t)
	for _, args := range []string{
		`"kb", "tea", {"id": "1"}`, `"tips", "tea", {"id": "2"}`, `"notes", "tea", {"id": "3"}`, `"auto", "tea", {"id": "4"}`,
		`"auto", "tea", {"id": "5", "namespace": "n"}`,
	} {
		f.want(ann, abi.Remember, args, `{"success":true`)
	}
	f.want(bob, abi.Remember, `"tips", "tea", {"id": "6"}`, `{"success":true`)
	erased, err := f.Erase(t.Context(), ann)
	if err != nil || erased.Records != 4 {
		t.Errorf("Erase = %+v, %v; want 4 records", erased, err)
	}
	f.now = f.now.Add(48 * time.Hour)
	for args, want := range map[string]string{
		`"kb", "tea"`: "1", `"tips", "tea"`: "6", `"notes", "tea"`: "", `"auto", "tea"`: "", `"auto", "tea", {"namespace": "n"}`: "",
	} {
		if got := f.recall(ann, args); got != want {
			t.Errorf("after the erasure, recall(%s) found %q; want %q", args, got, want)
		}
	}
}

func TestDryRun(t *testing.T) {
	f := open(t)
	f.want(ann, abi.Remember, `"notes", "old", {"id": "1"}`, `{"success":true`)
	done, err := f.run(ann, memory.Tx{DryRun: true}, func(call func(op, args string) string) {
		call(abi.Remember, `"notes", "tea", {"id": "1", "metadata": {"a": 1}}`)
		call(abi.Remember, `"tips", "coffee", {"id": "2", "namespace": "n"}`)
		if got := f.ids(call(abi.Recall, `"notes", "tea"`)); got != "1" {
			t.Errorf("recall in the dry run found %q; want its own entry", got)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(done.Changes)
	want := `[{"store":"notes","item":"/1","before":{"content":"old"},"after":{"content":"tea","metadata":{"a":1}}},` +
		`{"store":"tips","item":"n/2","before":null,"after":{"content":"coffee"}}]`
	if string(text) != want {
		t.Errorf("the changes are %s; want %s", text, want)
	}
	f.want(ann, abi.Recall, `"notes", "tea", {"mode": "text"}`, `{"results":[],"count":0}`)
}

// The first entry of a collection determines the embedder of the collection.
func TestOtherEmbedder(t *testing.T) {
	f := open(t)
	f.want(ann, abi.Remember, `"notes", "tea", {"id": "1"}`, `{"success":true`)
	f.model.id = "words-2"
	const fault = `unavailable: the vectors of the collection "notes" are from the model "words-1" (6 dimensions), but the embedding model of the collection is now "words-2" (6 dimensions)`
	f.want(ann, abi.Remember, `"notes", "tea"`, fault)
	f.want(bob, abi.Recall, `"notes", "tea"`, fault)
	f.want(ann, abi.Remember, `"tips", "tea"`, `{"success":true`)
	f.model.id, f.model.dim = "", 7
	f.want(ann, abi.Recall, `"notes", "tea"`, `unavailable: the vectors of the collection "notes" are from the model "words-1" (6 dimensions), but the embedding model of the collection is now "words-1" (7 dimensions)`)
	f.model.dim = 0
	f.want(ann, abi.Forget, `"notes", {"id": "1"}`, `{"count":1`)
}

// If the vectors of a run cannot be computed, the run fails and stores nothing.
func TestBrokenEmbedder(t *testing.T) {
	nan := float32(0)
	nan /= nan
	for name, broken := range map[string]func([][]float32) ([][]float32, error){
		"a fault":                 func([][]float32) ([][]float32, error) { return nil, abi.Faultf(abi.Unavailable, "the model is down") },
		"not a number":            func(v [][]float32) ([][]float32, error) { v[0][1] = nan; return v, nil },
		"too long":                func(v [][]float32) ([][]float32, error) { v[0] = append(v[0], 0); return v, nil },
		"no vector":               func(v [][]float32) ([][]float32, error) { return v[:0], nil },
		"a length other than one": func(v [][]float32) ([][]float32, error) { v[0][0] = 5; return v, nil },
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			f.model.broken = broken
			f.want(ann, abi.Remember, `"notes", "tea", {"id": "1"}`, `unavailable: the `)
			f.model.broken = nil
			if got := f.recall(ann, `"notes", "tea"`); got != "" {
				t.Errorf("recall found %q; want nothing, because the run failed", got)
			}
			f.want(ann, abi.Remember, `"notes", "tea", {"id": "1"}`, `{"success":true`)
			f.model.broken = broken
			f.want(ann, abi.Recall, `"notes", "tea", {"mode": "vector"}`, `unavailable: the `)
			f.want(ann, abi.Recall, `"notes", "tea", {"mode": "text"}`, `{"results":[{"id":"1"`)
		})
	}
}

func TestBadArguments(t *testing.T) {
	f := open(t)
	f.want(ann, abi.Remember, `"notes", "tea", {"id": "1"}`, `{"success":true`)
	long := `"` + strings.Repeat("x", 1<<20) + `"`
	for _, tt := range []struct{ op, args, want string }{
		{abi.Remember, `"notes"`, `invalid_argument: the content of an entry is missing or null`},
		{abi.Remember, `"notes", " "`, `invalid_argument: the content of an entry is an empty text`},
		{abi.Remember, `"notes", ` + long, `too_large: the content has`},
		{abi.Remember, `"notes", "x", 3`, `invalid_argument: the options argument must be an object`},
		{abi.Remember, `"notes", "x", {"nam": 1}`, `invalid_argument: the options argument has an unknown member "nam"`},
		{abi.Remember, `"notes", "x", {"id": ""}`, `invalid_argument: the option "id" must be a string of 1 to 256 bytes`},
		{abi.Remember, `"notes", "x", {"id": "` + strings.Repeat("x", 257) + `"}`, `invalid_argument: the option "id" must be a string of 1 to 256 bytes`},
		{abi.Remember, `"notes", "x", {"id": ` + long + `}`, `too_large: the options argument has 10485`},
		{abi.Remember, `"notes", "x", {"namespace": ` + long + `}`, `too_large: the options argument has 10485`},
		{abi.Remember, `"notes", "x", {"namespace": "a\u0000b"}`, `invalid_argument: the option "namespace" must be a string`},
		{abi.Remember, `"notes", "x", {"ttl": "1 fortnight"}`, `invalid_argument: the option "ttl" must be a duration such as 90d`},
		{abi.Remember, `"notes", "x", {"ttl": "session"}`, `invalid_argument: the option "ttl" must be a duration such as 90d`},
		{abi.Remember, `"notes", "x", {"metadata": []}`, `invalid_argument: the option "metadata" must be an object`},
		{abi.Remember, `"notes", "x", {"metadata": {"a": "` + strings.Repeat("x", 17<<10) + `"}}`, `too_large: the metadata has`},
		{abi.Recall, `"notes", "", {}`, `invalid_argument: the query must be a text that is not empty`},
		{abi.Recall, `"notes", "  ", {}`, `invalid_argument: the query must be a text that is not empty`},
		{abi.Recall, `"notes", ` + long, `too_large: the query has 1048576 bytes`},
		{abi.Recall, `"notes", "x", {"limit": 0}`, `invalid_argument: the option "limit" must be a whole number from 1 to 1000`},
		{abi.Recall, `"notes", "x", {"limit": 10000}`, `invalid_argument: the option "limit" must be a whole number from 1 to 1000`},
		{abi.Recall, `"notes", "x", {"threshold": 2}`, `invalid_argument: the option "threshold" must be a number from 0 to 1`},
		{abi.Recall, `"notes", "x", {"mode": "magic"}`, `invalid_argument: the option "mode" must be hybrid, vector or text`},
		{abi.Recall, `"notes", "x", {"filter": {"a": {"b": 1}}}`, `invalid_argument: `},
		{abi.Recall, `"notes", "x", {"filter": "a"}`, `invalid_argument: `},
		{abi.Forget, `"notes", "1"`, `invalid_argument: the selector must be an object`},
		{abi.Forget, `"notes", {"filter": {"a": {"b": 1}}}`, `invalid_argument: `},
		{abi.SetContent, `"notes", {}`, `invalid_argument: the store "notes" of kind collection does not support the operation set_content`},
	} {
		if got := f.call(ann, tt.op, tt.args); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s(%.80s) = %.200s; want %s", tt.op, tt.args, got, tt.want)
		}
	}
	if got := f.recall(ann, `"notes", "tea x", {"limit": 1000}`); got != "1" {
		t.Errorf("recall found %q; want only the entry that was stored before the bad calls", got)
	}
}

// The text, the metadata and the vector of an entry count toward the quota.
func TestQuota(t *testing.T) {
	f := openWith(t, func(c *memory.Config) { c.Limits = memory.Limits{UserBytes: 2000, UserRecords: 100} })
	for i := range 20 {
		reply := f.call(ann, abi.Remember, `"notes", "`+strings.Repeat("x", 500)+`"`)
		if strings.HasPrefix(reply, "quota_exceeded: ") {
			if i < 2 || i > 3 {
				t.Errorf("the quota was exceeded after %d entries of 500 bytes; want 2 or 3", i)
			}
			return
		}
	}
	t.Error("20 entries of 500 bytes are in a quota of 2,000 bytes")
}

func TestDeclarations(t *testing.T) {
	for _, tt := range []struct {
		store declare.Store
		want  string
	}{
		{declare.Store{Name: "a", Access: declare.ScopeUser, Collection: declare.Collection{Erase: declare.EraseNever}}, "erase applies only to collections with the access application"},
		{declare.Store{Name: "a", Access: declare.ScopeApplication, Collection: declare.Collection{Erase: "no"}}, "the value \"no\" of erase is unknown"},
		{declare.Store{Name: "a", Access: declare.ScopeApplication, Collection: declare.Collection{Embedding: "a b"}}, "invalid name of an embedding model"},
		{declare.Store{Name: "a", Access: declare.ScopeApplication, Collection: declare.Collection{Language: "klingon"}}, "klingon"},
		{declare.Store{Name: "a", Access: declare.ScopeApplication, Schema: json.RawMessage(`{}`)}, "collections have no schema"},
		{declare.Store{Name: "a", Access: declare.ScopeByItem}, "does not support the access"},
	} {
		tt.store.Kind = declare.KindCollection
		_, err := memory.New(memory.Config{App: "shop", Backend: mem.New(), Stores: []declare.Store{tt.store}})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New with %+v: %v; want %s", tt.store, err, tt.want)
		}
	}
}

// A grant that contains the name of a collection takes precedence over grants with patterns. A
// longer pattern takes precedence over a shorter pattern. Patterns do not match reserved names.
func TestPatterns(t *testing.T) {
	f := open(t)
	all := []abi.Verb{abi.Read, abi.Write, abi.Delete}
	granted := memory.Granted([]declare.Grant{
		{Store: "k*", Verbs: all}, {Store: "ka*", Verbs: all[:1]}, {Store: "kabul", Verbs: all[1:2]}, {Store: "f*", Verbs: all}, {Store: "sess*", Verbs: all},
	})
	for _, tt := range []struct{ op, args, want string }{
		{abi.Remember, `"kb", "tea", {"id": "1"}`, `{"success":true`},
		{abi.Remember, `"ka", "tea"`, `access_denied: the tool has no write grant on the store "ka"`},
		{abi.Recall, `"ka", "tea"`, `{"results":[]`},
		{abi.Remember, `"kabul", "tea"`, `{"success":true`},
		{abi.Recall, `"kabul", "tea"`, `access_denied: the tool has no read grant on the store "kabul"`},
		{abi.Forget, `"kb", {"id": "1"}`, `{"count":1`},
		{abi.Recall, `"notes", "tea"`, `not_found: `},
		{abi.Recall, `"k*", "tea"`, `not_found: `},
		{abi.Recall, `"facts", "tea"`, `not_found: `},
		{abi.GetContent, `"sessionMeta"`, `not_found: `},
	} {
		reply, _, err := f.Do(f.t.Context(), ann, granted, f.operation(tt.op, tt.args))
		if got := f.text(reply, err); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s(%s) = %s; want %s", tt.op, tt.args, got, tt.want)
		}
	}
}

// Operators can list, export and remove collections and entries.
func TestOperators(t *testing.T) {
	f := open(t)
	for user, calls := range map[string][]string{
		"ann": {`"kb", "tea", {"id": "1", "metadata": {"a": 1}}`, `"notes", "tea", {"id": "2"}`, `"notes", "tea", {"id": "3", "namespace": "n", "ttl": "10m"}`, `"auto", "tea", {"id": "4", "namespace": "n"}`},
		"bob": {`"notes", "coffee", {"id": "2"}`},
	} {
		for _, args := range calls {
			f.want(as(user), abi.Remember, args, `{"success":true`)
		}
	}
	all, err := memory.ListCollections(t.Context(), f.Service, "acme")
	text, _ := json.Marshal(all)
	const want = `[{"name":"kb","declared":true,"embedder":"words-1","dimension":6},{"name":"tips","declared":true},` +
		`{"name":"notes","declared":true,"embedder":"words-1","dimension":6},{"name":"news","declared":true},{"name":"chat","declared":true},` +
		`{"name":"auto","declared":false,"embedder":"words-1","dimension":6}]`
	if err != nil || string(text) != want {
		t.Errorf("ListCollections = %s, %v; want %s", text, err, want)
	}
	list := func(c partition.Caller, q memory.EntryQuery) string {
		t.Helper()
		var items []string
		for {
			found, next, err := memory.ListEntries(t.Context(), f.Service, c, q)
			if err != nil {
				return f.text(nil, err)
			}
			for _, e := range found {
				items = append(items, e.User+":"+e.Namespace+"/"+e.ID+"="+string(e.Content)+string(e.Metadata))
			}
			if q.After = next; next == "" {
				return strings.Join(items, " ")
			}
		}
	}
	tenant, none, n := partition.Caller{Tenant: "acme"}, "", "n"
	for _, tt := range []struct {
		caller partition.Caller
		query  memory.EntryQuery
		want   string
	}{
		{tenant, memory.EntryQuery{Collection: "kb", Limit: 1}, `:/1="tea"{"a":1}`},
		{tenant, memory.EntryQuery{Collection: "notes", Limit: 1}, `ann:/2="tea" ann:n/3="tea" bob:/2="coffee"`},
		{ann, memory.EntryQuery{Collection: "notes", Limit: 10}, `ann:/2="tea" ann:n/3="tea"`},
		{ann, memory.EntryQuery{Collection: "notes", Limit: 10, Namespace: &none}, `ann:/2="tea"`},
		{tenant, memory.EntryQuery{Collection: "notes", Limit: 10, Namespace: &n}, `ann:n/3="tea"`},
		{tenant, memory.EntryQuery{Collection: "auto", Limit: 10}, `ann:n/4="tea"`},
		{tenant, memory.EntryQuery{Collection: "other", Limit: 10}, `not_found: the collection "other" does not exist`},
		{tenant, memory.EntryQuery{Collection: "notes"}, `invalid_argument: the limit must be at least 1`},
		{tenant, memory.EntryQuery{Collection: "notes", Limit: 1, After: "?"}, `invalid_argument: the parameter "after" is not a valid cursor`},
	} {
		if got := list(tt.caller, tt.query); got != tt.want {
			t.Errorf("ListEntries(%+v) for %q = %s; want %s", tt.query, tt.caller.User, got, tt.want)
		}
	}
	f.now = f.now.Add(time.Hour)
	if got := list(ann, memory.EntryQuery{Collection: "notes", Limit: 10}); got != `ann:/2="tea"` {
		t.Errorf("after the end of an entry, ListEntries = %s", got)
	}
	infos, _, err := f.List(t.Context(), ann, "auto", "", 10)
	if err != nil || len(infos) != 1 || infos[0].Item != "n/4" {
		t.Errorf("List = %+v, %v; want the entry n/4", infos, err)
	}
	audits, err := f.Audit(t.Context(), "acme")
	for _, a := range audits {
		if err != nil || a.Orphan || a.Unfit > 0 || a.Moved != "" {
			t.Errorf("Audit = %+v, %v; want no findings", a, err)
		}
	}
	if n, err := f.Purge(t.Context(), "acme", "notes"); err != nil || n != 3 {
		t.Errorf("Purge = %d, %v; want 3 records", n, err)
	}
	f.model.id = "words-2"
	f.want(ann, abi.Remember, `"notes", "tea"`, `{"success":true`) // the purge also removed the embedder of the collection
}

// If a nested body fails, its entries are not stored, and no vectors of its entries are computed.
func TestNested(t *testing.T) {
	f := open(t)
	_, err := f.Transact(t.Context(), &memory.Tx{Caller: ann, Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
		call := func(ctx context.Context, op, args string) string { return f.text(v.Call(ctx, f.operation(op, args))) }
		call(ctx, abi.Remember, `"notes", "first tea", {"id": "1"}`)
		err := v.Nested(ctx, memory.Operator(), func(ctx context.Context) error {
			call(ctx, abi.Remember, `"notes", "second tea", {"id": "1"}`)
			call(ctx, abi.Remember, `"notes", "third tea", {"id": "2"}`)
			return errors.New("the tool fails")
		})
		if err == nil {
			t.Error("Nested returned no error")
		}
		if got := f.ids(call(ctx, abi.Recall, `"notes", "tea"`)); got != "1" {
			t.Errorf("recall found %q; want the entry of the outer body", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f.want(ann, abi.Recall, `"notes", "tea"`, `{"results":[{"id":"1","content":"first tea"`)
	if want := [][]string{{"first tea"}}; len(f.model.batches) != 1 || !slices.Equal(f.model.batches[0], want[0]) {
		t.Errorf("the batches are %q; want %q", f.model.batches, want)
	}
}
