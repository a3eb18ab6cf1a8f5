package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// clock is a clock whose time a test sets.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// app returns a service that declares the stores that most tests use.
type app struct {
	*memory.Service
	t       *testing.T
	clock   *clock
	backend storage.Backend
}

const prefsSchema = `{
	"type": "object",
	"properties": {
		"language": {"type": "string", "maxLength": 5},
		"count": {"type": "integer", "default": 0}
	}
}`

func stores() []declare.Store {
	return []declare.Store{
		{Name: "prefs", Access: declare.ScopeUser, Strict: true, Schema: json.RawMessage(prefsSchema)},
		{Name: "loose", Access: declare.ScopeUser, Schema: json.RawMessage(prefsSchema)},
		{Name: "notes", Access: declare.ScopeUser},
		{Name: "daily", Access: declare.ScopeUser, Retention: declare.Retention{For: 24 * time.Hour}},
		{Name: "lastSession", Access: declare.ScopeUser, Retention: declare.Retention{Session: true}},
		{Name: "cart", Access: declare.ScopeSession, Retention: declare.Retention{Session: true}},
		{Name: "flags", Access: declare.ScopeApplication},
		{Name: "list", Access: declare.ScopeApplication, Schema: json.RawMessage(`{"type":"array"}`)},
	}
}

func newApp(t *testing.T, change ...func(*memory.Config)) *app {
	t.Helper()
	a := &app{t: t, clock: newClock(), backend: mem.New()}
	cfg := memory.Config{App: "shop", Backend: a.backend, Stores: stores(), Now: a.clock.Now}
	for _, f := range change {
		f(&cfg)
	}
	a.backend = cfg.Backend
	service, err := memory.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a.Service = service
	return a
}

var runs struct {
	sync.Mutex
	n int
}

func caller(user, session string) partition.Caller {
	runs.Lock()
	defer runs.Unlock()
	runs.n++
	return partition.Caller{Tenant: "acme", User: user, Session: session, Run: fmt.Sprintf("run%d", runs.n)}
}

func args(texts ...string) []json.RawMessage {
	raw := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		if text != "" {
			raw[i] = json.RawMessage(text)
		}
	}
	return raw
}

func call(op string, texts ...string) abi.Call { return abi.Call{Op: op, Args: args(texts...)} }

// The method "do" performs one operation in a separate transaction.
func (a *app) do(c partition.Caller, op string, texts ...string) (string, error) {
	a.t.Helper()
	reply, _, err := a.Do(context.Background(), c, memory.Operator(), call(op, texts...))
	return string(reply), err
}

func (a *app) must(c partition.Caller, op string, texts ...string) string {
	a.t.Helper()
	reply, err := a.do(c, op, texts...)
	if err != nil {
		a.t.Fatalf("%s(%s) failed: %v", op, strings.Join(texts, ", "), err)
	}
	return reply
}

func (a *app) want(c partition.Caller, store, want string) {
	a.t.Helper()
	if got := a.must(c, abi.GetContent, store); got != want {
		a.t.Errorf("get_content(%s) = %s; want %s", store, got, want)
	}
}

func (a *app) wantFault(code abi.Code, c partition.Caller, op string, texts ...string) *abi.Fault {
	a.t.Helper()
	_, err := a.do(c, op, texts...)
	if !errors.Is(err, code) {
		a.t.Fatalf("%s(%s) = %v; want %s", op, strings.Join(texts, ", "), err, code)
	}
	return abi.FaultOf(err)
}

var ann = partition.Caller{Tenant: "acme", User: "ann", Session: "s1", Run: "r"}

func TestSetMergesAndCreates(t *testing.T) {
	a := newApp(t)
	a.want(ann, `"prefs"`, "null")
	a.must(ann, abi.SetContent, `"prefs"`, `{"language":"en"}`)
	a.want(ann, `"prefs"`, `{"count":0,"language":"en"}`)
	a.must(ann, abi.SetContent, `"prefs"`, `{"count":2}`)
	a.want(ann, `"prefs"`, `{"count":2,"language":"en"}`)
	a.must(ann, abi.SetContent, `"prefs"`, `{"count":null}`)
	a.want(ann, `"prefs"`, `{"language":"en"}`)
	a.must(ann, abi.SetContent, `"notes"`, `{"a":null,"b":{"c":1}}`)
	a.want(ann, `"notes"`, `{"b":{"c":1}}`)
	a.must(ann, abi.SetContent, `"notes"`, `{"a":null}`, `{"replace":true}`)
	a.want(ann, `"notes"`, `{"a":null}`)
	if got := a.must(ann, abi.GetContent, `"prefs"`, `{"language":1}`); got != `{"language":"en"}` {
		t.Errorf("projection = %s", got)
	}
	a.must(ann, abi.SetContent, `"notes"`, `{"z.a":1,"z":{"b":2,"a":3}}`, `{"replace":true}`)
	a.want(ann, `"notes"`, `{"z":{"a":3,"b":2},"z.a":1}`) // the members are always sorted
	if got := a.must(ann, abi.GetContent, `"notes"`, `{"z\\.a":1}`); got != `{"z.a":1}` {
		t.Errorf("the projection of a name with a point = %s", got)
	}
}

func TestDelete(t *testing.T) {
	a := newApp(t)
	if got := a.must(ann, abi.DeleteContent, `"notes"`); got != `{"success":true,"deleted":false}` {
		t.Errorf("delete_content without a record = %s", got)
	}
	a.must(ann, abi.SetContent, `"notes"`, `{"a":1}`)
	if got := a.must(ann, abi.DeleteContent, `"notes"`); got != `{"success":true,"deleted":true}` {
		t.Errorf("delete = %s", got)
	}
	a.want(ann, `"notes"`, "null")
}

func TestScopes(t *testing.T) {
	a := newApp(t)
	bob := partition.Caller{Tenant: "acme", User: "bob", Session: "s2", Run: "r"}
	other := partition.Caller{Tenant: "rival", User: "ann", Session: "s1", Run: "r"}
	a.must(ann, abi.SetContent, `"notes"`, `{"who":"ann"}`)
	a.must(ann, abi.SetContent, `"cart"`, `{"who":"s1"}`)
	a.must(ann, abi.SetContent, `"flags"`, `{"who":"all"}`)
	a.want(bob, `"notes"`, "null")
	a.want(bob, `"cart"`, "null")
	a.want(bob, `"flags"`, `{"who":"all"}`)
	a.want(other, `"flags"`, "null")
	a.want(other, `"notes"`, "null")
	later := partition.Caller{Tenant: "acme", User: "ann", Session: "s3", Run: "r"}
	a.want(later, `"notes"`, `{"who":"ann"}`)
	a.want(later, `"cart"`, "null")
	anonymous := partition.Caller{Tenant: "acme", Run: "r"}
	a.wantFault(abi.NoUser, anonymous, abi.GetContent, `"notes"`)
	a.wantFault(abi.NoSession, anonymous, abi.GetContent, `"cart"`)
	a.wantFault(abi.NoSession, partition.Caller{Tenant: "acme", User: "ann", Run: "r"}, abi.SetContent, `"lastSession"`, `{}`)
}

func TestRefusals(t *testing.T) {
	a := newApp(t)
	deep := strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33)
	var wide strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&wide, `,"k%d":1`, i)
	}
	tests := []struct {
		name string
		code abi.Code
		op   string
		args []string
	}{
		{"unknown store", abi.NotFound, abi.GetContent, []string{`"nope"`}},
		{"unknown operation", abi.InvalidArgument, "drop_all", []string{`"notes"`}},
		{"no store", abi.InvalidArgument, abi.GetContent, nil},
		{"store is not a string", abi.InvalidArgument, abi.GetContent, []string{`7`}},
		{"sessionMeta set", abi.ReadOnly, abi.SetContent, []string{`"sessionMeta"`, `{}`}},
		{"sessionMeta delete", abi.ReadOnly, abi.DeleteContent, []string{`"sessionMeta"`}},
		{"bad projection", abi.InvalidArgument, abi.GetContent, []string{`"notes"`, `{"a":"x"}`}},
		{"an operator in a projection", abi.InvalidArgument, abi.GetContent, []string{`"notes"`, `{"a":{"$slice":1}}`}},
		{"unknown option", abi.InvalidArgument, abi.GetContent, []string{`"notes"`, ``, `{"recrod":true}`}},
		{"option of another operation", abi.InvalidArgument, abi.GetContent, []string{`"notes"`, ``, `{"ttl":"1h"}`}},
		{"bad option", abi.InvalidArgument, abi.SetContent, []string{`"notes"`, `{}`, `{"replace":"yes"}`}},
		{"negative revision", abi.InvalidArgument, abi.SetContent, []string{`"notes"`, `{}`, `{"if_revision":-1}`}},
		{"fractional revision", abi.InvalidArgument, abi.SetContent, []string{`"notes"`, `{}`, `{"if_revision":1.5}`}},
		{"bad ttl", abi.InvalidArgument, abi.SetContent, []string{`"notes"`, `{}`, `{"ttl":"1w"}`}},
		{"ttl over the retention", abi.InvalidArgument, abi.SetContent, []string{`"daily"`, `{}`, `{"ttl":"25h"}`}},
		{"null", abi.InvalidArgument, abi.SetContent, []string{`"notes"`, `null`}},
		{"nothing", abi.InvalidArgument, abi.SetContent, []string{`"notes"`}},
		{"not an object", abi.InvalidArgument, abi.SetContent, []string{`"notes"`, `[1]`}},
		{"not JSON", abi.InvalidArgument, abi.SetContent, []string{`"notes"`, `{"a":`}},
		{"huge number", abi.InvalidArgument, abi.SetContent, []string{`"notes"`, `{"a":1e9999999}`}},
		{"lone surrogate", abi.InvalidArgument, abi.SetContent, []string{`"notes"`, `{"a":"\ud800"}`}},
		{"too deep", abi.TooLarge, abi.SetContent, []string{`"notes"`, deep}},
		{"too many keys", abi.TooLarge, abi.SetContent, []string{`"notes"`, "{" + wide.String()[1:] + "}"}},
		{"too large", abi.TooLarge, abi.SetContent, []string{`"notes"`, `{"a":"` + strings.Repeat("x", 256<<10) + `"}`}},
		{"wrong type", abi.SchemaViolation, abi.SetContent, []string{`"prefs"`, `{"language":7}`}},
		{"extra property", abi.SchemaViolation, abi.SetContent, []string{`"prefs"`, `{"colour":"red"}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			outer := a.t
			defer func() { a.t = outer }()
			a.t = t
			f := a.wantFault(tt.code, ann, tt.op, tt.args...)
			if f.Message == "" || f.Op != tt.op {
				t.Errorf("fault = %+v; want a message and the operation", f)
			}
		})
	}
	for _, store := range []string{`"notes"`, `"prefs"`, `"daily"`} {
		a.want(ann, store, "null")
	}
}

// The sizes of "options" and "projections" are limited. The size is checked before the JSON is
// decoded.
func TestArgumentsAreBounded(t *testing.T) {
	a := newApp(t, func(cfg *memory.Config) { cfg.Limits.Values = 10 })
	ann := caller("ann", "")
	long := strings.Repeat("x", 64<<10)
	for name, arguments := range map[string][]string{
		"options of get":    {abi.GetContent, `"notes"`, "", `{"record":"` + long[:4<<10] + `"}`},
		"options of set":    {abi.SetContent, `"notes"`, `{}`, `{"ttl":[` + strings.Repeat(`{},`, 2000) + `0]}`},
		"options of delete": {abi.DeleteContent, `"notes"`, `{"if_revision":"` + long[:4<<10] + `"}`},
		"projection":        {abi.GetContent, `"notes"`, `{"` + long + `":1}`},
		"values":            {abi.SetContent, `"notes"`, `{"a":[1,2,3,4,5,6,7,8,9]}`},
	} {
		if _, err := a.do(ann, arguments[0], arguments[1:]...); !errors.Is(err, abi.TooLarge) {
			t.Errorf("%s: %s = %v; want too_large", name, arguments[0], err)
		}
	}
	a.must(ann, abi.SetContent, `"notes"`, `{"a":[1,2,3,4,5,6,7,8]}`)
	a.wantFault(abi.TooLarge, ann, abi.SetContent, `"notes"`, `{"b":1}`)
	a.must(ann, abi.GetContent, `"notes"`, `{"`+long[:32<<10]+`":1}`, `{"record":false}`+strings.Repeat(" ", 2<<10))
}

func TestGrants(t *testing.T) {
	a := newApp(t)
	grants := []declare.Grant{
		{Store: "notes", Verbs: []abi.Verb{abi.Read}},
		{Store: "flags", Verbs: []abi.Verb{abi.Write}},
		{Store: declare.SessionMeta, Verbs: []abi.Verb{abi.Read, abi.Write, abi.Delete}},
	}
	tests := []struct {
		call abi.Call
		code abi.Code
	}{
		{call(abi.GetContent, `"notes"`), ""},
		{call(abi.SetContent, `"notes"`, `{}`), abi.AccessDenied},
		{call(abi.DeleteContent, `"notes"`), abi.AccessDenied},
		{call(abi.GetContent, `"flags"`), abi.AccessDenied},
		{call(abi.SetContent, `"flags"`, `{}`), ""},
		{call(abi.GetContent, `"prefs"`), abi.NotFound},
		{call(abi.GetContent, `"nope"`), abi.NotFound},
		{call(abi.GetContent, `"sessionMeta"`), ""},
		{call(abi.SetContent, `"sessionMeta"`, `{}`), abi.ReadOnly},
	}
	for _, tt := range tests {
		_, err := a.Transact(context.Background(), &memory.Tx{Caller: ann, Authority: memory.Granted(grants)}, func(ctx context.Context, v *memory.View) error {
			_, err := v.Call(ctx, tt.call)
			return err
		})
		if tt.code == "" && err != nil || tt.code != "" && !errors.Is(err, tt.code) {
			t.Errorf("%s = %v; want %q", tt.call, err, tt.code)
		}
	}
}

// Messages for operators do not mention a tool, grants or a run.
func TestTextsForOperators(t *testing.T) {
	a, anonymous := newApp(t), caller("", "")
	for store, want := range map[string]string{
		"nope":  `the store "nope" does not exist`,
		"notes": `store "notes" is per-user, but the caller has no user`,
		"cart":  `store "cart" is per-session, but the caller has no session`,
	} {
		_, err := a.do(anonymous, abi.GetContent, `"`+store+`"`)
		f := abi.FaultOf(err)
		if f == nil || f.Message != want || strings.Contains(f.Hint, "grant") {
			t.Errorf("get_content(%s) = %v, hint %q; want %s", store, err, f.Hint, want)
		}
	}
}

// TestMisspelledStores checks that the hint about a misspelled store suggests only granted stores.
func TestMisspelledStores(t *testing.T) {
	a := newApp(t)
	some := memory.Granted([]declare.Grant{{Store: "notes", Verbs: []abi.Verb{abi.Write}}, {Store: declare.SessionMeta, Verbs: []abi.Verb{abi.Read}}})
	tests := []struct {
		name      string
		authority memory.Authority
		hint      string
	}{
		{"note", some, `did you mean "notes"?`},
		{"sessionmeta", some, `did you mean "sessionMeta"?`},
		{"daiyl", some, "declare the store in the app file, and grant the store to the tool"},
		{"daiyl", memory.Operator(), `did you mean "daily"?`}, // an operator sees all stores
	}
	for _, tt := range tests {
		_, err := a.Transact(context.Background(), &memory.Tx{Caller: ann, Authority: tt.authority}, func(ctx context.Context, v *memory.View) error {
			_, err := v.Call(ctx, call(abi.GetContent, strconv.Quote(tt.name)))
			return err
		})
		if f := abi.FaultOf(err); f == nil || f.Code != abi.NotFound || f.Hint != tt.hint {
			t.Errorf("%s = %+v; want not_found with the hint %s", tt.name, f, tt.hint)
		}
	}
}

func TestStrictAndLoose(t *testing.T) {
	a := newApp(t)
	f := a.wantFault(abi.SchemaViolation, ann, abi.SetContent, `"prefs"`, `{"language":"secret-and-long"}`)
	if len(f.Violations) != 1 || f.Violations[0].Pointer != "/language" || f.Violations[0].Keyword != "maxLength" {
		t.Errorf("violations = %v", f.Violations)
	}
	if text, _ := json.Marshal(f); strings.Contains(string(text), "secret") {
		t.Errorf("the fault quotes the value: %s", text)
	}
	_, effects, err := a.Do(context.Background(), ann, memory.Operator(), call(abi.SetContent, `"loose"`, `{"language":"much too long"}`))
	if err != nil || len(effects.Writes) != 1 || len(effects.Writes[0].Violations) != 1 {
		t.Errorf("set in a store that is not strict = %+v, %v; want one violation", effects, err)
	}
	a.want(ann, `"loose"`, `{"count":0,"language":"much too long"}`)
	a.must(ann, abi.SetContent, `"list"`, `[1,2]`)
	a.want(ann, `"list"`, `[1,2]`)
}

// TestLedgerViolations checks the violations that a ledger entry contains. A violation may contain
// only names that the schema declares.
func TestLedgerViolations(t *testing.T) {
	backend := mem.New()
	s, err := memory.New(memory.Config{App: "shop", Backend: backend, LedgerRetention: time.Hour, Stores: []declare.Store{{
		Name: "loose", Access: declare.ScopeUser,
		Schema: json.RawMessage(`{"type":"object","properties":{"mail":{"additionalProperties":{"type":"integer"}}}}`),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	tx := memory.Tx{Caller: partition.Caller{Tenant: "t", User: "ann", Run: "run_1"}, Authority: memory.Operator(), LedgerEntry: &ledger.Entry{Run: "run_1"}}
	done, err := s.Transact(t.Context(), &tx, func(ctx context.Context, v *memory.View) error {
		_, err := v.Call(ctx, call(abi.SetContent, `"loose"`, `{"mail":{"ann@example.com":"secret"}}`))
		return err
	})
	if err != nil || len(done.Effects.Violations()) != 1 || done.Effects.Violations()[0].Pointer != "/mail/ann@example.com" {
		t.Fatalf("Transact = %+v, %v; want the violation", done, err)
	}
	found, _, _, err := s.Ledger().Entries(t.Context(), "t", ledger.Query{Limit: 10})
	if err != nil || len(found) != 1 || len(found[0].Writes) != 1 {
		t.Fatalf("Ledger = %+v, %v; want one entry", found, err)
	}
	if got := found[0].Writes[0].Violations; len(got) != 1 || got[0].Pointer != "/mail/*" || got[0].Keyword != "type" {
		t.Errorf("the ledger has the violations %v; want one at /mail/*", got)
	}
}

// A patch can keep a violation that the document already has. TestExistingViolation checks the hint
// of the fault. The hint must explain how to fix the violation.
func TestExistingViolation(t *testing.T) {
	backend := mem.New()
	open := func(strict bool) *memory.Service {
		s, err := memory.New(memory.Config{App: "shop", Backend: backend, Stores: []declare.Store{{
			Name: "prefs", Access: declare.ScopeUser, Strict: strict,
			Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"},"b":{}}}`),
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	caller := partition.Caller{Tenant: "t", User: "ann"}
	if _, _, err := open(false).Do(t.Context(), caller, memory.Operator(), call(abi.SetContent, `"prefs"`, `{"a":"x"}`)); err != nil {
		t.Fatal(err)
	}
	_, _, err := open(true).Do(t.Context(), caller, memory.Operator(), call(abi.SetContent, `"prefs"`, `{"b":1}`))
	f := abi.FaultOf(err)
	if f.Code != abi.SchemaViolation || len(f.Violations) != 1 || !f.Violations[0].Existing || !strings.Contains(f.Hint, "replace the whole content") {
		t.Errorf("the patch = %+v; want a fault with a hint", f)
	}
}

func TestRetention(t *testing.T) {
	a := newApp(t)
	a.must(ann, abi.SetContent, `"daily"`, `{"a":1}`)
	a.must(ann, abi.SetContent, `"notes"`, `{"a":1}`, `{"ttl":"10s"}`)
	a.clock.Advance(10*time.Second - time.Microsecond)
	a.want(ann, `"notes"`, `{"a":1}`)
	a.clock.Advance(time.Microsecond)
	a.want(ann, `"notes"`, "null")
	a.clock.Advance(24*time.Hour - 11*time.Second)
	a.want(ann, `"daily"`, `{"a":1}`)
	a.must(ann, abi.SetContent, `"daily"`, `{"b":1}`)
	a.clock.Advance(23 * time.Hour)
	fresh := partition.Caller{Tenant: "acme", User: "ann", Session: "s9", Run: "r"}
	a.want(fresh, `"daily"`, `{"a":1,"b":1}`)
	a.clock.Advance(time.Hour)
	a.want(fresh, `"daily"`, "null")
	if got := a.must(fresh, abi.SetContent, `"daily"`, `{"c":1}`, `{"if_revision":0}`); !strings.Contains(got, `"revision":3`) {
		t.Errorf("set after expiry = %s; want a new record with a higher revision", got)
	}
	a.want(fresh, `"daily"`, `{"c":1}`)
}

func TestShorterRetentionAppliesAtOnce(t *testing.T) {
	a := newApp(t)
	a.must(ann, abi.SetContent, `"daily"`, `{"a":1}`)
	a.clock.Advance(2 * time.Hour)
	shorter := newApp(t, func(cfg *memory.Config) {
		cfg.Backend, cfg.Now = a.backend, a.clock.Now
		cfg.Stores = []declare.Store{{Name: "daily", Access: declare.ScopeUser, Retention: declare.Retention{For: time.Hour}}}
	})
	shorter.want(ann, `"daily"`, "null")
}

func TestSessionRetentionEndsWithTheSessionThatWroteLast(t *testing.T) {
	a := newApp(t)
	s2 := partition.Caller{Tenant: "acme", User: "ann", Session: "s2", Run: "r"}
	a.must(ann, abi.SetContent, `"lastSession"`, `{"a":1}`)
	a.want(s2, `"lastSession"`, `{"a":1}`)
	if _, err := a.Sessions().End(context.Background(), ann); err != nil {
		t.Fatal(err)
	}
	a.want(s2, `"lastSession"`, "null")
}

func TestIdleSessionHidesItsRecords(t *testing.T) {
	a := newApp(t)
	a.must(ann, abi.SetContent, `"lastSession"`, `{"a":1}`)
	a.clock.Advance(28 * time.Hour)
	s2 := partition.Caller{Tenant: "acme", User: "ann", Session: "s2", Run: "r"}
	a.want(s2, `"lastSession"`, "null")
	a.wantFault(abi.SessionEnded, ann, abi.GetContent, `"notes"`)
}

func TestSessions(t *testing.T) {
	ctx := context.Background()
	a := newApp(t)
	started, err := a.Sessions().Start(ctx, ann, session.Start{Metadata: json.RawMessage(`{"channel":"web","x":1}`), Reference: "ref"})
	if err != nil || started.ID != "s1" || started.User != "ann" {
		t.Fatalf("StartSession = %+v, %v", started, err)
	}
	if _, err := a.Sessions().Start(ctx, ann, session.Start{Metadata: json.RawMessage(`{"x":null}`)}); err != nil {
		t.Fatal(err)
	}
	got := a.must(ann, abi.GetContent, `"sessionMeta"`)
	want := `{"metadata":{"channel":"web"},"sessionInfo":{"sessionId":"s1","appId":"shop","sessionReference":"ref","userReference":null,"userId":"ann","runId":"r","timestamp":"2030-01-01T12:00:00.000000Z"},"artifacts":[]}`
	if got != want {
		t.Errorf("sessionMeta = %s; want %s", got, want)
	}
	if got := a.must(ann, abi.GetContent, `"sessionMeta"`, `{"metadata.channel":1}`); got != `{"metadata":{"channel":"web"}}` {
		t.Errorf("projected sessionMeta = %s", got)
	}
	a.wantFault(abi.AccessDenied, partition.Caller{Tenant: "acme", User: "eve", Session: "s1", Run: "r"}, abi.GetContent, `"flags"`)
	a.wantFault(abi.AccessDenied, partition.Caller{Tenant: "acme", Session: "s1", Run: "r"}, abi.GetContent, `"flags"`)
	a.must(ann, abi.SetContent, `"cart"`, `{"a":1}`)
	if _, err := a.Sessions().End(ctx, ann); err != nil {
		t.Fatal(err)
	}
	a.wantFault(abi.SessionEnded, ann, abi.GetContent, `"flags"`)
	if _, err := a.Sessions().Start(ctx, ann, session.Start{}); !errors.Is(err, abi.SessionEnded) {
		t.Errorf("StartSession of an ended session = %v; want session_ended", err)
	}
	if records, err := a.backend.Scan(ctx, storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}), "", 10); err != nil || len(records) != 0 {
		t.Errorf("after the session's end %d records are left, %v", len(records), err)
	}
}

func TestAnonymousSessionIsBoundOnce(t *testing.T) {
	a := newApp(t)
	anonymous := partition.Caller{Tenant: "acme", Session: "s1", Run: "r"}
	a.must(anonymous, abi.SetContent, `"cart"`, `{"a":1}`)
	a.want(ann, `"cart"`, `{"a":1}`) // a read by an operator does not bind the session to a user
	if session, err := a.Sessions().Get(context.Background(), anonymous); err != nil || session.User != "" {
		t.Errorf("after a read the session is %+v, %v; want it still anonymous", session, err)
	}
	a.must(ann, abi.SetContent, `"cart"`, `{"b":2}`)
	a.wantFault(abi.AccessDenied, partition.Caller{Tenant: "acme", User: "bob", Session: "s1", Run: "r"}, abi.GetContent, `"cart"`)
	a.wantFault(abi.AccessDenied, anonymous, abi.GetContent, `"cart"`)
}

func TestMetaWithoutASession(t *testing.T) {
	a := newApp(t)
	anonymous := partition.Caller{Tenant: "acme", Run: "r"}
	tx := memory.Tx{Caller: anonymous, Authority: memory.Operator(), Session: session.Start{Metadata: json.RawMessage(`{"name":"Jo"}`)}}
	_, err := a.Transact(context.Background(), &tx, func(ctx context.Context, v *memory.View) error {
		reply, err := v.Call(ctx, call(abi.GetContent, `"sessionMeta"`))
		if !strings.Contains(string(reply), `"metadata":{"name":"Jo"}`) || !strings.Contains(string(reply), `"sessionId":null`) {
			t.Errorf("sessionMeta = %s", reply)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
