package tenants_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// stub is an engine that runs a function of the test instead of each guest.
type stub struct {
	run func(context.Context, engine.Host) (engine.Output, error)
}

func (stub) Info() engine.Info                                             { return engine.Info{Name: "stub", Extensions: []string{".js"}} }
func (s stub) Load(context.Context, engine.Source) (engine.Program, error) { return s, nil }
func (stub) Close() error                                                  { return nil }
func (s stub) Run(ctx context.Context, _ engine.Input, h engine.Host) (engine.Output, error) {
	return s.run(ctx, h)
}

// count increments the user's record and returns its previous content.
func count(ctx context.Context, h engine.Host) (engine.Output, error) {
	text, err := h.Call(ctx, abi.Call{Op: abi.GetContent, Args: []json.RawMessage{json.RawMessage(`"notes"`)}})
	if err != nil {
		return engine.Output{}, err
	}
	_, err = h.Call(ctx, abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"notes"`), json.RawMessage(`{"seen":true}`)}})
	return engine.Output{Output: text}, err
}

// load loads an app whose store has the given access.
func load(t *testing.T, access string) *app.App {
	t.Helper()
	text := "app: shop\nmemory: {notes: {access: " + access + "}}\ntools: {look: {source: look.js, description: looks, grants: {notes: readwrite}}}\n"
	declared, problems := app.Load(fstest.MapFS{"app.yaml": {Data: []byte(text)}, "look.js": {Data: []byte("x")}}, "app.yaml")
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return declared
}

func serve(t *testing.T, run func(context.Context, engine.Host) (engine.Output, error), change ...func(*tenants.Options)) *tenants.Apps {
	t.Helper()
	opts := tenants.Options{Host: host.Options{Backend: mem.New(), Engines: []engine.Engine{stub{run}}}}
	for _, c := range change {
		c(&opts)
	}
	a := tenants.New(opts)
	if err := a.Serve(t.Context(), []*app.App{load(t, "user")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// look runs the tool for ann in the given tenant.
func look(t *testing.T, a *tenants.Apps, tenant string) string {
	t.Helper()
	h, release, err := a.Host(t.Context(), tenant, "shop")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	result, err := h.Run(t.Context(), host.Invocation{Tool: "look", Caller: host.Caller{Tenant: tenant, User: "ann"}})
	if err != nil {
		t.Fatal(err)
	}
	return string(result.Output)
}

func TestTenantsAreApart(t *testing.T) {
	a := serve(t, count)
	for _, step := range []struct{ tenant, want string }{{"acme", "null"}, {"other", "null"}, {"acme", `{"seen":true}`}, {"other", `{"seen":true}`}} {
		if got := look(t, a, step.tenant); got != step.want {
			t.Errorf("ann of %s finds %s; want %s", step.tenant, got, step.want)
		}
	}
	if _, _, err := a.Host(t.Context(), "acme", "shopp"); !errors.Is(err, abi.NotFound) || !strings.Contains(abi.FaultOf(err).Hint, "shop") {
		t.Errorf("an unknown app = %v", err)
	}
}

// Concurrent requests that open an app get the same host.
func TestOpenedOnce(t *testing.T) {
	a := serve(t, count)
	var all sync.WaitGroup
	hosts := make([]*host.Host, 50)
	for i := range hosts {
		all.Go(func() {
			h, release, err := a.Host(t.Context(), "acme", "shop")
			if err != nil {
				t.Error(err)
				return
			}
			hosts[i] = h
			release()
		})
	}
	all.Wait()
	for _, h := range hosts {
		if h != hosts[0] {
			t.Fatal("two hosts were opened")
		}
	}
}

// Replacing an app does not affect runs in progress. Runs that start after the replacement use the
// new version.
func TestServeAgain(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	retired := make(chan *host.Host, 1)
	a := serve(t, func(ctx context.Context, h engine.Host) (engine.Output, error) {
		close(begun)
		<-goOn
		return count(ctx, h)
	}, func(o *tenants.Options) { o.OnRetired = func(h *host.Host) { retired <- h } })
	h, release, err := a.Host(t.Context(), "acme", "shop")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		defer release()
		_, err := h.Run(context.Background(), host.Invocation{Tool: "look", Caller: host.Caller{Tenant: "acme", User: "ann"}})
		ended <- err
	}()
	<-begun
	if err := a.Serve(t.Context(), []*app.App{load(t, "user")}); err != nil {
		t.Fatal(err)
	}
	if got := <-retired; got != h {
		t.Error("another host was retired")
	}
	next, releaseNext, err := a.Host(t.Context(), "acme", "shop")
	if err != nil || next == h {
		t.Errorf("after serving it again the host is the same, %v", err)
	}
	releaseNext()
	close(goOn)
	if err := <-ended; err != nil {
		t.Errorf("the run in progress = %v", err)
	}
}

// A new version that changes the access of a store does not affect the served version.
func TestServeMovedStore(t *testing.T) {
	a := serve(t, count)
	look(t, a, "acme")
	err := a.Serve(t.Context(), []*app.App{load(t, "application")})
	if _, ok := errors.AsType[*memory.ScopeChangedError](err); !ok {
		t.Errorf("Serve = %v; want a ScopeChangedError", err)
	}
	if got := look(t, a, "acme"); got != `{"seen":true}` {
		t.Errorf("afterwards ann finds %s", got)
	}
}

// Requests fail after Close, or if the app is no longer served.
func TestServeNoMore(t *testing.T) {
	a := serve(t, count)
	look(t, a, "acme")
	if err := a.Serve(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Host(t.Context(), "acme", "shop"); !errors.Is(err, abi.NotFound) {
		t.Errorf("an app that is no longer served = %v", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Host(t.Context(), "acme", "shop"); !errors.Is(err, abi.Unavailable) {
		t.Errorf("after Close = %v", err)
	}
}

// A store is declared once, for one tenant. The store survives a reload of the app.
func TestDeclareStore(t *testing.T) {
	a := serve(t, count)
	st := declare.Store{Name: "extra", Access: declare.ScopeUser}
	if err := a.DeclareStore(t.Context(), "acme", "shop", st, false); !errors.Is(err, abi.NotFound) {
		t.Errorf("changing an unknown store = %v", err)
	}
	if err := a.DeclareStore(t.Context(), "acme", "shop", st, true); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"extra": abi.Conflict, "EXTRA": abi.Conflict, "notes": abi.Conflict, "no name": abi.InvalidArgument} {
		if err := a.DeclareStore(t.Context(), "acme", "shop", declare.Store{Name: name, Access: declare.ScopeUser}, true); !errors.Is(err, want) {
			t.Errorf("creating %q = %v; want %v", name, err, want)
		}
	}
	if err := a.Serve(t.Context(), []*app.App{load(t, "user")}); err != nil {
		t.Fatal(err)
	}
	for tenant, want := range map[string]int{"acme": 2, "other": 1} {
		h, release, err := a.Host(t.Context(), tenant, "shop")
		if err != nil {
			t.Fatal(err)
		}
		if got := len(h.App().Stores); got != want {
			t.Errorf("%s has %d stores; want %d", tenant, got, want)
		}
		release()
	}
}

// Several stores can be declared in one call. Either all declarations take effect, or no
// declaration takes effect.
func TestDeclareStores(t *testing.T) {
	a := serve(t, count)
	named := func(names ...string) (list []declare.Store) {
		for _, name := range names {
			list = append(list, declare.Store{Name: name, Access: declare.ScopeUser})
		}
		return list
	}
	stores := func() (names []string) {
		h, release, err := a.Host(t.Context(), "acme", "shop")
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		for _, st := range h.App().Stores {
			names = append(names, st.Name)
		}
		return names
	}
	for _, tt := range []struct {
		declared []declare.Store
		err      error
		want     string
	}{
		{named("one", "two"), nil, "notes one two"},
		{named("three", "notes"), abi.Conflict, "notes one two"},
		{named("three", "ONE"), abi.Conflict, "notes one two"},
		{named("three", "no name"), abi.InvalidArgument, "notes one two"},
		{named("three", "one"), nil, "notes one three two"},
	} {
		if err := a.DeclareStores(t.Context(), "acme", "shop", tt.declared); !errors.Is(err, tt.err) {
			t.Errorf("%v = %v; want %v", tt.declared, err, tt.err)
		}
		got := stores()
		slices.Sort(got)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("after %v there are %v; want %s", tt.declared, got, tt.want)
		}
	}
}

func TestTooManyTenants(t *testing.T) {
	a := serve(t, count, func(o *tenants.Options) { o.Tenants = 1 })
	_, release, err := a.Host(t.Context(), "acme", "shop")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Host(t.Context(), "other", "shop"); !errors.Is(err, abi.QuotaExceeded) {
		t.Errorf("one tenant too many = %v", err)
	}
	look(t, a, "acme")
	release()
	look(t, a, "other") // the idle host is closed to open this one
	look(t, a, "acme")
}

// A store that a tenant declared keeps its access even if the app file later declares the same name
// with a different access.
func TestDeclaredBeforeTheFile(t *testing.T) {
	a := serve(t, count)
	look(t, a, "acme")
	st := declare.Store{Name: "extra", Access: declare.ScopeSession}
	if err := a.DeclareStore(t.Context(), "other", "shop", st, true); err != nil {
		t.Fatal(err)
	}
	h, release, err := a.Host(t.Context(), "other", "shop")
	if err != nil {
		t.Fatal(err)
	}
	set := abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"extra"`), json.RawMessage(`{"a":1}`)}}
	if _, _, err := h.Stores().Do(t.Context(), host.Caller{Tenant: "other", Session: "s1"}, memory.Operator(), set); err != nil {
		t.Fatal(err)
	}
	release()
	next := load(t, "user")
	next.Stores = append(next.Stores, declare.Store{Name: "extra", Access: declare.ScopeUser})
	if err := a.Serve(t.Context(), []*app.App{next}); err != nil {
		t.Fatalf("the store of one tenant prevents the app for all: %v", err)
	}
	for tenant, want := range map[string]declare.Scope{"acme": declare.ScopeUser, "other": declare.ScopeSession} {
		h, release, err := a.Host(t.Context(), tenant, "shop")
		if err != nil {
			t.Fatal(err)
		}
		if got := h.App().Stores[1].Access; got != want {
			t.Errorf("for %s the store has the access %s; want %s", tenant, got, want)
		}
		release()
	}
}

// A store that a tenant declared stays even if the app file later declares a block with its name.
// Tenants that have not declared the store have the block.
func TestDeclaredBeforeTheBlock(t *testing.T) {
	a := serve(t, count)
	st := declare.Store{Name: "style", Kind: declare.KindDocument, Access: declare.ScopeUser}
	if err := a.DeclareStore(t.Context(), "other", "shop", st, true); err != nil {
		t.Fatal(err)
	}
	next := load(t, "user")
	next.Blocks = append(declare.BuiltInBlocks(), declare.Block{Name: "Style", Use: declare.BlockContext}.WithDefaults())
	if err := a.Serve(t.Context(), []*app.App{next}); err != nil {
		t.Fatal(err)
	}
	for tenant, want := range map[string]int{"acme": 3, "other": 2} {
		h, release, err := a.Host(t.Context(), tenant, "shop")
		if err != nil {
			t.Fatal(err)
		}
		if got := len(h.Blocks().Declared()); got != want {
			t.Errorf("for %s the app has %d blocks; want %d", tenant, got, want)
		}
		release()
	}
	st.Name = "STYLE"
	if err := a.DeclareStore(t.Context(), "acme", "shop", st, true); !errors.Is(err, abi.Conflict) {
		t.Errorf("DeclareStore with the name of a block = %v; want conflict", err)
	}
	st.Name = "core"
	if err := a.DeclareStore(t.Context(), "acme", "shop", st, true); err == nil {
		t.Error("DeclareStore with the name core = nil; want an error")
	}
}

// If a tenant opens an app while the app is being replaced, the tenant does not keep the old
// version.
func TestTenantsThatComeMeanwhile(t *testing.T) {
	a := serve(t, count)
	for i := range 20 {
		look(t, a, "tenant"+string(rune('a'+i)))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 20 {
			look(t, a, "late"+string(rune('a'+i)))
		}
	}()
	next := load(t, "user")
	next.Stores = append(next.Stores, declare.Store{Name: "extra", Access: declare.ScopeUser})
	if err := a.Serve(t.Context(), []*app.App{next}); err != nil {
		t.Fatal(err)
	}
	<-done
	for _, prefix := range []string{"tenant", "late"} {
		for i := range 20 {
			h, release, err := a.Host(t.Context(), prefix+string(rune('a'+i)), "shop")
			if err != nil {
				t.Fatal(err)
			}
			if len(h.App().Stores) != 2 {
				t.Errorf("%s%d has the old version", prefix, i)
			}
			release()
		}
	}
}

// closings records the closed hosts by tenant.
type closings struct {
	mu   sync.Mutex
	seen map[*host.Host]string
	gone chan string
}

func (c *closings) open(t *testing.T, a *tenants.Apps, tenant string) (release func()) {
	t.Helper()
	h, release, err := a.Host(t.Context(), tenant, "shop")
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[h] = tenant
	return release
}

func (c *closings) retired(h *host.Host) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone <- c.seen[h]
}

// TestIdleHostsAreClosed opens more hosts than the limit allows. Only idle hosts are closed. The
// next use of a closed host opens the host again.
func TestIdleHostsAreClosed(t *testing.T) {
	c := &closings{seen: map[*host.Host]string{}, gone: make(chan string, 99)}
	a := serve(t, count, func(o *tenants.Options) { o.Open, o.Idle, o.OnRetired = 2, -1, c.retired })
	used := c.open(t, a, "used")
	c.open(t, a, "first")()
	c.open(t, a, "second")()
	if got := <-c.gone; got != "first" {
		t.Errorf("the host of %s was closed; want the idle one", got)
	}
	look(t, a, "first")
	if got := <-c.gone; got != "second" {
		t.Errorf("the host of %s was closed; want the least recently used one", got)
	}
	used()
	rests := &closings{seen: map[*host.Host]string{}, gone: make(chan string, 99)}
	held := make(chan *host.Host, 99)
	b := serve(t, count, func(o *tenants.Options) {
		o.Idle, o.OnRetired, o.OnIdle = 20*time.Millisecond, rests.retired, func(h *host.Host) { held <- h }
	})
	keep := rests.open(t, b, "kept")
	rests.open(t, b, "left")()
	if got := <-rests.gone; got != "left" {
		t.Errorf("the host of %s was closed; want the idle one", got)
	}
	<-held // OnIdle is called for a host that is in use
	keep()
	if got := <-rests.gone; got != "kept" {
		t.Errorf("the host of %s was closed; want the other", got)
	}
	look(t, b, "left")
}

// stuck is a backend that blocks the reads of a tenant until the tenant is released.
type stuck struct {
	storage.Backend
	requested, resume chan struct{}
}

func (s stuck) wait(key storage.Key) {
	if key.Part(storage.Tenant) == "slow" {
		select {
		case s.requested <- struct{}{}:
		default:
		}
		<-s.resume
	}
}

func (s stuck) Get(ctx context.Context, keys ...storage.Key) ([]storage.Record, error) {
	for _, key := range keys {
		s.wait(key)
	}
	return s.Backend.Get(ctx, keys...)
}

func (s stuck) Scan(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Record, error) {
	s.wait(prefix)
	return s.Backend.Scan(ctx, prefix, after, limit)
}

// TestDeclarationsDoNotBlockOthers makes the declaration of one tenant slow. During the slow
// declaration, another tenant can declare a store.
func TestDeclarationsDoNotBlockOthers(t *testing.T) {
	backend := stuck{mem.New(), make(chan struct{}, 1), make(chan struct{})}
	a := serve(t, count, func(o *tenants.Options) { o.Host.Backend = backend })
	st := declare.Store{Name: "extra", Access: declare.ScopeUser}
	slow := make(chan error, 1)
	go func() { slow <- a.DeclareStore(t.Context(), "slow", "shop", st, true) }()
	<-backend.requested
	other := make(chan error, 1)
	go func() { other <- a.DeclareStore(t.Context(), "other", "shop", st, true) }()
	select {
	case err := <-other:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("a tenant waits for the declaration of another one")
	}
	close(backend.resume)
	if err := <-slow; err != nil {
		t.Error(err)
	}
}
