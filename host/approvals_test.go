package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/storage/postgres"
	"github.com/toolrun/toolrun/host/storage/postgres/pgtest"
)

// gatedApp is an app with two tools. The writes of one tool require an approval. The other tool
// changes the records that this tool reads.
const gatedApp = `
app: shop
memory:
  cart: {access: user, description: what the user buys}
  orders: {access: user, description: what the user has bought}
tools:
  pay:
    source: pay.js
    description: pays for the cart
    grants: {cart: read, orders: readwrite}
    models: [local]
    approval: {before: [set_content, delete_content]}
  own: {source: own.js, description: the user approves, grants: {orders: readwrite}, approval: {before: [set_content], by: user}}
  twice: {source: twice.js, description: two effects, grants: {orders: readwrite}, approval: {before: [set_content]}}
  asks: {source: asks.js, description: asks a model, models: [local], approval: {before: [model.chat]}}
  fill: {source: fill.js, description: fills the cart, grants: {cart: readwrite}}
  typo: {source: own.js, description: a misspelled operation, grants: {orders: readwrite}, approval: {before: [set_contents]}}
`

var gatedFiles = fstest.MapFS{
	"app.yaml": {Data: []byte(gatedApp)},
	"pay.js": {Data: []byte(`const cart = await memory.get_content("cart");
try {
  const answer = await model.chat("local", {messages: [{role: "user", content: "check"}]});
  await memory.set_content("orders", {total: cart?.total ?? 0, at: Date.now(), id: Math.random(), note: answer.text});
} catch (e) { return "caught " + e.message }
return context.runId`)},
	"own.js":   {Data: []byte(`await memory.set_content("orders", {n: input.n}); if (input.fail) throw new Error("broken"); return input.n`)},
	"twice.js": {Data: []byte(`await memory.set_content("orders", {a: 1}); await memory.set_content("orders", {b: 2}); return "done"`)},
	"asks.js":  {Data: []byte(`return (await Promise.all(["a", "b"].map(t => model.chat("local", {messages: [{role: "user", content: t}]})))).map(r => r.text)`)},
	"fill.js":  {Data: []byte(`await memory.set_content("cart", {total: input.total}); return null`)},
}

// gated is a host whose tools require approvals.
type gated struct {
	*testing.T
	*host.Host
	server  *modeltest.Server
	backend storage.Backend
	// passed is the time, in nanoseconds, that has passed since the host was first opened.
	passed atomic.Int64
	events []string
	// afterRun is called after a tool has been executed and before the run commits. afterRun can be
	// nil.
	afterRun func()
	host.NopObserver
}

func (g *gated) ApprovalEnded(_ context.Context, c host.Caller, state approval.State) {
	g.events = append(g.events, c.User+" "+string(state))
}

func (g *gated) AfterRun(context.Context, host.RunInfo, json.RawMessage, host.Memory) error {
	if g.afterRun != nil {
		g.afterRun()
	}
	return nil
}

// The method "now" returns the current time of the host. Several goroutines of the host call this
// method.
func (g *gated) now() time.Time {
	return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(g.passed.Load()))
}

func (g *gated) pass(d time.Duration) { g.passed.Add(int64(d)) }

// newGated opens the host on a backend.
func newGated(t *testing.T, backend storage.Backend) *gated {
	g := &gated{T: t, server: modeltest.Start(), backend: backend}
	t.Cleanup(g.server.Close)
	g.open(gatedFiles)
	return g
}

// open opens the host. If the host is already open, open first closes it.
func (g *gated) open(files fstest.MapFS) {
	g.Helper()
	if g.Host != nil {
		if err := g.Close(); err != nil {
			g.Fatal(err)
		}
	}
	g.Host = openApp(g.T, files, func(o *host.Options) {
		o.Backend, o.Models, o.Ledger = g.backend, modelSet(g.T, g.server, ""), 100*24*time.Hour
		o.Now, o.Observers = g.now, []host.Observer{g}
	})
}

// pause runs a tool. The run must pause, and pause returns the approval that the run requests.
func (g *gated) pause(inv host.Invocation) *report.PendingApproval {
	g.Helper()
	result, err := run(g.Host, inv)
	if err != nil || result.Status != report.Paused || result.OK || result.Approval == nil {
		g.Fatalf("Run = %s %v, %v; want a paused run", result.Status, result.Approval, err)
	}
	return result.Approval
}

// approver is a caller that can approve the effects of all users.
var approver = host.Caller{Tenant: host.DefaultTenant, Actor: "boss"}

// approve approves an effect, and checks that the run ends with the given status.
func (g *gated) approve(token string, want report.Status) *report.Result {
	g.Helper()
	result, err := g.Approvals().Approve(context.Background(), approver, token)
	if result == nil || result.Status != want || (err != nil) != (want == report.Failed) {
		g.Fatalf("Approve = %+v, %v; want the status %s", result, err, want)
	}
	return result
}

// refused expects a fault.
func (g *gated) refused(err error, want abi.Code) {
	g.Helper()
	if f, ok := errors.AsType[*abi.Fault](err); !ok || f.Code != want || strings.Contains(f.Error(), `"ann"`) {
		g.Errorf("the error is %v; want the fault %s, without data of the user", err, want)
	}
}

// acts returns the acts in the ledger, sorted. Each element contains the act, the user and the
// fault code.
func (g *gated) acts() (acts []string) {
	g.Helper()
	_ = g.Close()
	g.open(gatedFiles)
	entries, _, _, err := g.Ledger().Entries(context.Background(), approver, ledger.Query{Limit: 100})
	if err != nil {
		g.Fatal(err)
	}
	for _, e := range entries {
		if e.Act != "operate" { // of the test itself
			acts = append(acts, strings.TrimSpace(e.Act+" "+e.User+" "+string(e.Code)))
		}
	}
	slices.Sort(acts) // their times are equal
	return acts
}

var approvalCluster pgtest.Cluster

// onEachBackend runs a test on every backend.
func onEachBackend(t *testing.T, test func(*testing.T, storage.Backend)) {
	t.Run("mem", func(t *testing.T) { test(t, mem.New()) })
	t.Run("bolt", func(t *testing.T) {
		db, err := bolt.Open(filepath.Join(t.TempDir(), "db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		test(t, db)
	})
	t.Run("postgres", func(t *testing.T) {
		db, err := postgres.Open(t.Context(), approvalCluster.DSN(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		test(t, db)
	})
}

// When a run pauses before an effect, nothing is stored. After the approval, the run gets the same
// answer of the model, the same time and the same random numbers as before.
func TestApproval(t *testing.T) {
	onEachBackend(t, func(t *testing.T, backend storage.Backend) {
		g := newGated(t, backend)
		inv := host.Invocation{Tool: "pay", Key: "once"}
		pending := g.pause(inv)
		if pending.Effect.Operation != "set_content" || !pending.ExpiresAt.Equal(g.now().Add(24*time.Hour)) {
			t.Errorf("the approval is %+v", pending)
		}
		var shown struct {
			Store string
			Data  struct{ Total, At float64 } `json:"data_object"`
		}
		if err := json.Unmarshal(pending.Effect.Arguments, &shown); err != nil || shown.Store != "orders" && !strings.Contains(string(pending.Effect.Arguments), `"orders"`) {
			t.Errorf("the arguments are %s, %v", pending.Effect.Arguments, err)
		}
		if got := content(t, g.Host, ann, abi.GetContent, "orders"); got != "null" {
			t.Errorf("before the approval, the orders are %s", got)
		}
		again, err := run(g.Host, inv)
		if err != nil || !again.Repeated || again.Status != report.Paused || again.Approval.Token != pending.Token {
			t.Errorf("the same key = %+v, %v; want the paused Result", again, err)
		}
		g.pass(time.Hour)
		g.open(gatedFiles) // after a restart
		listed, next, err := g.Approvals().List(t.Context(), approver, false, "")
		if err != nil || next != "" || len(listed) != 1 || listed[0].Token != pending.Token || listed[0].User != "ann" || listed[0].State != approval.Pending {
			t.Errorf("List = %+v, %q, %v", listed, next, err)
		}
		done := g.approve(pending.Token, report.Completed)
		if string(done.Output) != `"`+again.RunID+`"` || done.RunID != again.RunID || len(done.Effects.Writes) != 1 {
			t.Errorf("the Result is %+v; want one write of the same run", done)
		}
		orders := content(t, g.Host, ann, abi.GetContent, "orders")
		if !bytes.Contains(pending.Effect.Arguments, []byte(orders)) {
			t.Errorf("stored %s; want what was approved: %s", orders, pending.Effect.Arguments)
		}
		if n := len(g.server.Requests()); n != 1 {
			t.Errorf("the model received %d requests; want 1", n)
		}
		if again, err = run(g.Host, inv); err != nil || !again.Repeated || again.Status != report.Completed {
			t.Errorf("the same key = %+v, %v; want the completed Result", again, err)
		}
		_, err = g.Approvals().Approve(t.Context(), approver, pending.Token)
		g.refused(err, abi.Conflict)
		_, err = g.Approvals().Deny(t.Context(), approver, pending.Token, "")
		g.refused(err, abi.Conflict)
		if got := strings.Join(g.acts(), ", "); got != "approve ann, request_approval ann, run ann" {
			t.Errorf("the acts are %s", got)
		}
	})
}

// If the repeated execution reaches a different effect, the run pauses again under a new token.
func TestApprovalOfAnotherEffect(t *testing.T) {
	g := newGated(t, mem.New())
	first := g.pause(host.Invocation{Tool: "pay", Key: "once"})
	if _, err := run(g.Host, host.Invocation{Tool: "fill", Input: json.RawMessage(`{"total": 7}`)}); err != nil {
		t.Fatal(err)
	}
	again := g.approve(first.Token, report.Paused)
	if again.Approval.Token == first.Token || !bytes.Contains(again.Approval.Effect.Arguments, []byte(`"total":7`)) {
		t.Errorf("the run is paused with %+v; want a new token with the new effect", again.Approval)
	}
	if !slices.ContainsFunc(again.Warnings, func(w string) bool { return strings.Contains(w, "reached another effect") }) {
		t.Errorf("the warnings are %q; want a warning about another effect", again.Warnings)
	}
	if n := len(g.server.Requests()); n != 1 {
		t.Errorf("the model received %d requests; want 1", n)
	}
	_, err := g.Approvals().Approve(t.Context(), approver, first.Token)
	g.refused(err, abi.Conflict)
	if repeated, err := run(g.Host, host.Invocation{Tool: "pay", Key: "once"}); err != nil || repeated.Approval.Token != again.Approval.Token {
		t.Errorf("the key = %+v, %v; want the new approval", repeated, err)
	}
	// If the tool has changed since the pause, its effect counts as a different effect.
	changed := fstest.MapFS{}
	for name, file := range gatedFiles {
		changed[name] = file
	}
	changed["pay.js"] = &fstest.MapFile{Data: append([]byte("// changed\n"), gatedFiles["pay.js"].Data...)}
	g.open(changed)
	third := g.approve(again.Approval.Token, report.Paused)
	if !slices.ContainsFunc(third.Warnings, func(w string) bool { return strings.Contains(w, "has changed since the approval") }) {
		t.Errorf("the warnings are %q; want a warning about the changed tool", third.Warnings)
	}
	g.approve(third.Approval.Token, report.Completed)
	if got := content(t, g.Host, ann, abi.GetContent, "orders"); !strings.Contains(got, `"total":7`) {
		t.Errorf("the orders are %s", got)
	}
}

// Each effect of a run needs its own approval. Nothing is stored before the last approval.
func TestSeveralApprovals(t *testing.T) {
	g := newGated(t, mem.New())
	first := g.pause(host.Invocation{Tool: "twice"})
	paused := g.approve(first.Token, report.Paused)
	second := paused.Approval
	if len(paused.Warnings) > 0 && paused.Warnings[len(paused.Warnings)-1] != host.InProcessWarning {
		t.Errorf("the warnings are %q; want none about the approval", paused.Warnings)
	}
	if bytes.Equal(first.Effect.Arguments, second.Effect.Arguments) || content(t, g.Host, ann, abi.GetContent, "orders") != "null" {
		t.Errorf("the second effect is %s", second.Effect.Arguments)
	}
	if done := g.approve(second.Token, report.Completed); string(done.Output) != `"done"` {
		t.Errorf("the output is %s", done.Output)
	}
}

// Concurrent calls of a model are approved one after the other. Calls that the run made before the
// pause are not repeated.
func TestApprovalOfModelCalls(t *testing.T) {
	g := newGated(t, mem.New())
	first := g.pause(host.Invocation{Tool: "asks"})
	if first.Effect.Operation != "model.chat" || len(g.server.Requests()) != 0 {
		t.Errorf("the effect is %+v after %d requests", first.Effect, len(g.server.Requests()))
	}
	second := g.approve(first.Token, report.Paused).Approval
	done := g.approve(second.Token, report.Completed)
	if string(done.Output) != `["re: a","re: b"]` || len(g.server.Requests()) != 2 {
		t.Errorf("the output is %s after %d requests; want 2", done.Output, len(g.server.Requests()))
	}
}

func TestDeniedApproval(t *testing.T) {
	g := newGated(t, mem.New())
	inv := host.Invocation{Tool: "pay", Key: "once"}
	pending := g.pause(inv)
	result, err := g.Approvals().Deny(t.Context(), approver, pending.Token, "too expensive")
	if err != nil || result.Status != report.Failed || result.Error.Code != abi.AccessDenied || !strings.Contains(result.Error.Message, "too expensive") {
		t.Errorf("Deny = %+v, %v", result, err)
	}
	again, err := run(g.Host, inv)
	if !errors.Is(err, abi.AccessDenied) || !again.Repeated || again.Status != report.Failed {
		t.Errorf("the same key = %+v, %v; want the denial", again, err)
	}
	_, err = g.Approvals().Approve(t.Context(), approver, pending.Token)
	g.refused(err, abi.Conflict)
	found, err := g.Approvals().Get(t.Context(), approver, pending.Token)
	if err != nil || found.State != approval.Denied || found.By != "boss" || found.Reason != "too expensive" || found.Effect.Arguments != nil {
		t.Errorf("Get = %+v, %v; want the decision without the arguments", found, err)
	}
	if got := content(t, g.Host, ann, abi.GetContent, "orders"); got != "null" {
		t.Errorf("the orders are %s", got)
	}
	if got := strings.Join(g.acts(), ", "); got != "deny ann, request_approval ann" {
		t.Errorf("the acts are %s", got)
	}
}

// If several approvers approve the same effect, only one of them succeeds, and the effect is stored
// once.
func TestConcurrentApprovers(t *testing.T) {
	onEachBackend(t, func(t *testing.T, backend storage.Backend) {
		g := newGated(t, backend)
		pending := g.pause(host.Invocation{Tool: "own", Input: json.RawMessage(`{"n":1}`)})
		var mu sync.Mutex
		var wg sync.WaitGroup
		completed := 0
		for range 8 {
			wg.Go(func() {
				result, err := g.Approvals().Approve(t.Context(), approver, pending.Token)
				mu.Lock()
				defer mu.Unlock()
				if err == nil && result.Status == report.Completed {
					completed++
				} else {
					g.refused(err, abi.Conflict)
				}
			})
		}
		wg.Wait()
		if completed != 1 {
			t.Errorf("%d approvers succeeded; want 1", completed)
		}
	})
}

// An approver can decide a request. The user can decide it only if the tool allows this. No other
// caller can find out whether a token exists.
func TestApprovers(t *testing.T) {
	g := newGated(t, mem.New())
	pay, own := g.pause(host.Invocation{Tool: "pay"}), g.pause(host.Invocation{Tool: "own", Input: json.RawMessage(`{"n":1}`)})
	try := func(c host.Caller, token string) error {
		_, err := g.Approvals().Approve(t.Context(), c, token)
		return err
	}
	bob, foreign := host.Caller{User: "bob", Actor: "bob"}, host.Caller{Tenant: "other", Actor: "boss"}
	var unknown string
	for _, token := range []string{"approval_0", "", "\x00", strings.Repeat("x", 300)} {
		err := try(approver, token)
		g.refused(err, abi.NotFound)
		unknown = err.Error()
	}
	for _, c := range []host.Caller{bob, foreign, {User: "ann", Session: "s2"}} {
		err := try(c, own.Token)
		g.refused(err, abi.NotFound)
		if err.Error() != unknown {
			t.Errorf("the fault is %q; want the fault of an unknown token", err)
		}
		if listed, _, err := g.Approvals().List(t.Context(), c, true, ""); err != nil || len(listed) != 0 {
			t.Errorf("List = %v, %v", listed, err)
		}
		_, err = g.Approvals().Deny(t.Context(), c, own.Token, "no")
		g.refused(err, abi.NotFound)
	}
	g.refused(try(ann, pay.Token), abi.AccessDenied)
	g.refused(try(host.Caller{Actor: "ann", ActorIsUser: true}, pay.Token), abi.AccessDenied)
	if listed, _, err := g.Approvals().List(t.Context(), ann, false, ""); err != nil || len(listed) != 2 {
		t.Errorf("List = %v, %v; want both approvals", listed, err)
	}
	if err := try(ann, own.Token); err != nil {
		t.Errorf("the approval of the user = %v", err)
	}
}

func TestExpiredApproval(t *testing.T) {
	g := newGated(t, mem.New())
	inv := host.Invocation{Tool: "pay", Key: "once"}
	pending := g.pause(inv)
	g.pass(24 * time.Hour)
	_, err := g.Approvals().Approve(t.Context(), approver, pending.Token)
	g.refused(err, abi.Conflict)
	if _, err := g.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, err := g.Approvals().Get(t.Context(), approver, pending.Token); err != nil || found.State != approval.Expired || found.Effect.Arguments != nil {
		t.Errorf("Get = %+v, %v", found, err)
	}
	if again := g.pause(inv); again.Token == pending.Token {
		t.Error("the key still answers the expired approval")
	}
	if got := strings.Join(g.events, ", "); got != "ann expired" {
		t.Errorf("the events are %s", got)
	}
	g.pass(26 * time.Hour)
	if _, err := g.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = g.Approvals().Get(t.Context(), approver, pending.Token)
	g.refused(err, abi.NotFound)
}

// The erasure of a user removes the user's paused runs. After the erasure, the tokens of the
// removed runs are unknown.
func TestErasedWhilePaused(t *testing.T) {
	onEachBackend(t, func(t *testing.T, backend storage.Backend) {
		g := newGated(t, backend)
		pending := g.pause(host.Invocation{Tool: "own", Key: "k", Input: json.RawMessage(`{"n":"canary"}`)})
		erased, err := g.Users().Erase(t.Context(), ann)
		if err != nil || erased.Runs != 2 {
			t.Errorf("Erase = %+v, %v; want the paused run and its Result", erased, err)
		}
		_, err = g.Approvals().Approve(t.Context(), approver, pending.Token)
		g.refused(err, abi.NotFound)
		heads, err := backend.Heads(t.Context(), "", "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range heads {
			found, err := backend.Get(t.Context(), h.Key)
			if err != nil || bytes.Contains(found[0].Content, []byte("canary")) || bytes.Contains(found[0].Content, []byte(`"ann"`)) {
				t.Errorf("%q contains %s, %v", h.Key, found[0].Content, err)
			}
		}
	})
}

// The end of a session removes its paused runs.
func TestSessionEndedWhilePaused(t *testing.T) {
	g := newGated(t, mem.New())
	pending := g.pause(host.Invocation{Tool: "own", Caller: annInS1, Input: json.RawMessage(`{"n":1}`)})
	if _, err := g.Sessions().End(t.Context(), annInS1); err != nil {
		t.Fatal(err)
	}
	_, err := g.Approvals().Approve(t.Context(), approver, pending.Token)
	g.refused(err, abi.NotFound)
}

// If the tool of an approved run fails, the request ends. If the failure is temporary, the request
// is kept.
func TestFailedApprovedRun(t *testing.T) {
	g := newGated(t, mem.New())
	broken := g.pause(host.Invocation{Tool: "own", Key: "k", Input: json.RawMessage(`{"n":1,"fail":true}`)})
	if failed := g.approve(broken.Token, report.Failed); failed.Error.Code != abi.ToolError {
		t.Errorf("the fault is %v", failed.Error)
	}
	_, err := g.Approvals().Approve(t.Context(), approver, broken.Token)
	g.refused(err, abi.Conflict)
	g.pause(host.Invocation{Tool: "own", Key: "k", Input: json.RawMessage(`{"n":1,"fail":true}`)}) // the key is free

	pending := g.pause(host.Invocation{Tool: "own", Input: json.RawMessage(`{"n":1}`)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Approvals().Approve(ctx, approver, pending.Token); err == nil {
		t.Fatal("the approval succeeded after its context ended")
	}
	g.approve(pending.Token, report.Completed)
}

// A dry run does not pause. If the app file misspells the name of an operation, this is an error.
func TestDryRunOfGatedTool(t *testing.T) {
	g := newGated(t, mem.New())
	result, err := run(g.Host, host.Invocation{Tool: "own", DryRun: true, Input: json.RawMessage(`{"n":1}`)})
	if err != nil || result.Status != report.Completed || !strings.Contains(strings.Join(result.Warnings, " "), "before set_content") {
		t.Errorf("the dry run = %+v, %v; want a warning", result, err)
	}
	if _, err := run(g.Host, host.Invocation{Tool: "asks", DryRun: true, Live: true}); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("a dry run with live calls = %v; want access_denied", err)
	}
	if _, err := run(g.Host, host.Invocation{Tool: "typo"}); !errors.Is(err, abi.SourceInvalid) || !strings.Contains(err.Error(), "set_contents") {
		t.Errorf("a misspelled operation = %v; want source_invalid", err)
	}
}

// A call that fails does not need an approval.
func TestFailingCallNeedsNoApproval(t *testing.T) {
	g := newGated(t, mem.New())
	result, err := run(g.Host, host.Invocation{Tool: "own", Caller: host.Caller{Session: "s1"}, Input: json.RawMessage(`{"n":1}`)})
	if !errors.Is(err, abi.NoUser) {
		t.Errorf("the run = %+v, %v; want the fault no_user", result, err)
	}
}

// A user can have only a limited number of paused runs.
func TestApprovalLimit(t *testing.T) {
	g := newGated(t, mem.New())
	inv := host.Invocation{Tool: "own", Input: json.RawMessage(`{"n":1}`)}
	var last *report.PendingApproval
	for range approval.MaxOfUser {
		last = g.pause(inv)
	}
	_, err := run(g.Host, inv)
	if !errors.Is(err, abi.QuotaExceeded) {
		t.Errorf("one run too many = %v; want quota_exceeded", err)
	}
	g.approve(last.Token, report.Completed)
	g.pause(inv)
	bob := inv
	bob.Caller = host.Caller{User: "bob"}
	g.pause(bob)
}

// The app has a limited number of paused runs. A caller without a user cannot use all of them,
// whether or not it has a session.
func TestApprovalLimitWithoutUser(t *testing.T) {
	g := newGated(t, mem.New())
	inv := host.Invocation{Tool: "asks"}
	for i := range approval.MaxWithoutUser {
		inv.Caller = host.Caller{Session: []string{"", "s1", "s2"}[i%3]}
		if r, err := g.Host.Run(t.Context(), inv); err != nil || r.Approval == nil {
			t.Fatalf("run %d = %+v, %v; want a paused run", i, r, err)
		}
	}
	for _, session := range []string{"", "s1", "s3"} {
		inv.Caller = host.Caller{Session: session}
		if _, err := g.Host.Run(t.Context(), inv); !errors.Is(err, abi.QuotaExceeded) {
			t.Errorf("one run too many in the session %q = %v; want quota_exceeded", session, err)
		}
	}
	g.pause(host.Invocation{Tool: "own", Input: json.RawMessage(`{"n":1}`)})
}

// Every field of an Invocation must be stored with a paused run, except the fields in the test's
// list.
func TestPausedInvocationIsComplete(t *testing.T) {
	omitted := map[string]string{"DryRun": "a dry run does not pause", "Test": "like DryRun", "Live": "like DryRun", "OnLog": "a function", "OnState": "a function"}
	stored := reflect.TypeOf(host.PausedInvocation{})
	for _, field := range reflect.VisibleFields(reflect.TypeFor[host.Invocation]()) {
		if _, ok := stored.FieldByName(field.Name); ok == (omitted[field.Name] != "") {
			t.Errorf("the field %s is stored: %t", field.Name, ok)
		}
	}
}

// An agent cannot wait for an approval: the tool that it calls fails.
func TestGatedToolOfAgent(t *testing.T) {
	files := fstest.MapFS{
		"app.yaml":  {Data: []byte("app: shop\nmemory:\n  orders: {access: user, description: d}\ntools:\n  own: {source: own.js, description: d, grants: {orders: readwrite}, approval: {before: [set_content]}}\n")},
		"own.js":    gatedFiles["own.js"],
		"agent.abl": {Data: []byte("AGENT: Clerk\nGOAL: \"Sell\"\nMEMORY:\n  session:\n    - n\nFLOW:\n  go:\n    REASONING: false\n    CALL: own(n)\n    ON_FAIL:\n      RESPOND: \"not sold\"\n    THEN: COMPLETE\n")},
	}
	h := openApp(t, files)
	result, err := h.Agents().Turn(t.Context(), host.Turn{Caller: annInS1})
	if err != nil || strings.Join(result.Messages, "") != "not sold" {
		t.Errorf("Turn = %+v, %v; want the branch ON_FAIL", result, err)
	}
	if got := content(t, h, annInS1, abi.GetContent, "orders"); got != "null" {
		t.Errorf("the orders are %s", got)
	}
}
