package fact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// The type facts is a Service with a clock that the test controls.
type facts struct {
	t *testing.T
	*memory.Service
	backend storage.Backend
	now     time.Time
}

var declared = []declare.Fact{
	{Path: "user.language", Type: declare.FactString, Default: json.RawMessage(`"en"`)},
	{Path: "user.age", Type: declare.FactNumber, Strict: true},
	{Path: "user.travel.seat", Domain: "preferences"},
	{Path: "user.otp", TTL: 10 * time.Minute},
	{Path: "user.shared", Scope: declare.ScopeApplication},
	{Path: "project.rates", Type: declare.FactObject},
	{Path: "user.born", Type: declare.FactDate},
}

func open(t *testing.T) *facts { t.Helper(); return openWith(t, func(*memory.Config) {}) }

// openWith opens a Service with a configuration that the given function has changed.
func openWith(t *testing.T, change func(*memory.Config)) *facts {
	t.Helper()
	f := &facts{t: t, backend: mem.New(), now: time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC)}
	cfg := memory.Config{
		App: "shop", Backend: f.backend, Stores: []declare.Store{declare.FactStore(declared)}, Now: func() time.Time { return f.now },
	}
	change(&cfg)
	s, err := memory.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.Service = s
	return f
}

func as(user, session string) partition.Caller {
	return partition.Caller{Tenant: "acme", User: user, Session: session, Run: "run_1"}
}

var (
	ann = as("ann", "s1")
	bob = as("bob", "s2")
)

// call performs an operation under an Authority. call returns the reply, or the text of the fault.
func (f *facts) call(c partition.Caller, a memory.Authority, op, args string) string {
	f.t.Helper()
	call := abi.Call{Op: op}
	if err := json.Unmarshal([]byte("["+args+"]"), &call.Args); err != nil {
		f.t.Fatal(err)
	}
	reply, _, err := f.Do(f.t.Context(), c, a, call)
	if fault, ok := errors.AsType[*abi.Fault](err); ok {
		return string(fault.Code) + ": " + fault.Message
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return string(reply)
}

// want performs a call of an operator and checks that the reply begins with the given text.
func (f *facts) want(c partition.Caller, op, args, want string) {
	f.t.Helper()
	if got := f.call(c, memory.Operator(), op, args); !strings.HasPrefix(got, want) {
		f.t.Errorf("%s(%s) as %s = %s; want %s", op, args, c.User, got, want)
	}
}

func TestScopes(t *testing.T) {
	f := open(t)
	f.want(ann, abi.GetFact, `"user.language"`, `"en"`)
	f.want(ann, abi.GetFact, `"user.other"`, `null`)
	for _, path := range []string{"user.language", "user.shared", "project.name", "workflow.case", "execution_tree.case", "other.thing"} {
		f.want(ann, abi.SetFact, `"`+path+`", "x"`, `{"success":true`)
	}
	annInOther := as("ann", "s3")
	for path, want := range map[string][3]string{ // as read by "ann" in "s1", "ann" elsewhere, "bob"
		"user.language":       {`"x"`, `"x"`, `"en"`},
		"user.shared":         {`"x"`, `"x"`, `"x"`},
		"project.name":        {`"x"`, `"x"`, `"x"`},
		"workflow.case":       {`"x"`, `null`, `null`},
		"execution_tree.case": {`"x"`, `null`, `null`},
		"other.thing":         {`"x"`, `"x"`, `null`},
	} {
		for i, c := range []partition.Caller{ann, annInOther, bob} {
			f.want(c, abi.GetFact, `"`+path+`"`, want[i])
		}
	}
	f.want(as("", "s4"), abi.GetFact, `"user.language"`, "no_user: ")
	f.want(as("ann", ""), abi.SetFact, `"workflow.case", 1`, "no_workflow: ")
	f.want(as("", ""), abi.GetFact, `"project.name"`, `"x"`)
}

func TestDeleteAndRevisions(t *testing.T) {
	f := open(t)
	f.want(ann, abi.SetFact, `"user.language", "fr", {"if_revision": 0}`, `{"success":true,"revision":1`)
	f.want(ann, abi.SetFact, `"user.language", "de", {"if_revision": 0}`, "conflict: ")
	f.want(ann, abi.GetFact, `"user.language", {"record": true}`,
		`{"path":"user.language","value":"fr","revision":1,"updated_at":"2026-04-30T12:00:00.000000Z","expires_at":null,"type":"string","default":false}`)
	f.want(ann, abi.DeleteFact, `"user.language"`, `{"success":true,"deleted":true}`)
	f.want(ann, abi.DeleteFact, `"user.language"`, `{"success":true,"deleted":false}`)
	f.want(ann, abi.GetFact, `"user.language", {"record": true}`,
		`{"path":"user.language","value":"en","revision":0,"updated_at":null,"expires_at":null,"type":"string","default":true}`)
}

func TestTTL(t *testing.T) {
	f := open(t)
	f.want(ann, abi.SetFact, `"user.otp", "1234"`, `{"success":true,"revision":null,"updated_at":null,"expires_at":"2026-04-30T12:10:00.000000Z"}`)
	f.want(ann, abi.SetFact, `"user.language", "fr", {"ttl": "1h"}`, `{"success":true,"revision":null,"updated_at":null,"expires_at":"2026-04-30T13:00:00.000000Z"}`)
	f.now = f.now.Add(10 * time.Minute)
	f.want(ann, abi.GetFact, `"user.otp"`, `null`)
	f.want(ann, abi.SetFact, `"user.language", "de"`, `{"success":true,"revision":null,"updated_at":null,"expires_at":null}`)
	f.now = f.now.Add(time.Hour)
	f.want(ann, abi.GetFact, `"user.language"`, `"de"`) // the second write started a new lifetime
}

// TestFaultsNameFacts checks that the fault of each operation contains the path of the fact.
func TestFaultsNameFacts(t *testing.T) {
	f := open(t)
	for op, args := range map[string]string{
		abi.GetFact: `"user.age", {"record": 1}`, abi.SetFact: `"user.age", "old"`, abi.DeleteFact: `"user.age", {"if_revision": 7}`,
	} {
		for _, c := range []partition.Caller{ann, as("", "")} {
			call := abi.Call{Op: op}
			if err := json.Unmarshal([]byte("["+args+"]"), &call.Args); err != nil {
				t.Fatal(err)
			}
			_, _, err := f.Do(t.Context(), c, memory.Operator(), call)
			if fault := abi.FaultOf(err); fault.Item != "user.age" || fault.Store != declare.Facts || fault.Op != op {
				t.Errorf("%s as %q = %+v; want a fault of user.age", op, c.User, fault)
			}
		}
	}
}

// TestDeniedFacts checks that the fault of a write without a grant contains the path of the fact.
func TestDeniedFacts(t *testing.T) {
	f := open(t)
	language := memory.Granted([]declare.Grant{{Store: declare.Facts, Item: "user.language", Verbs: []abi.Verb{abi.Read}}})
	for _, tt := range []struct {
		authority memory.Authority
		path      string
		code      abi.Code
		message   string
	}{
		{language, "user.language", abi.AccessDenied, `no write grant on the fact "user.language"`},
		{language, "user.age", abi.AccessDenied, `no write grant on the store "facts"`},
		{memory.ReadOnly(memory.Operator()), "user.language", abi.AccessDenied, "read-only"},
	} {
		call := abi.Call{Op: abi.SetFact, Args: []json.RawMessage{json.RawMessage(`"` + tt.path + `"`), json.RawMessage(`"x"`)}}
		_, _, err := f.Do(t.Context(), ann, tt.authority, call)
		fault := abi.FaultOf(err)
		if fault.Code != tt.code || fault.Item != tt.path || fault.Store != declare.Facts || !strings.Contains(fault.Message, tt.message) {
			t.Errorf("set_fact(%s) = %+v; want %s of that fact", tt.path, fault, tt.code)
		}
	}
}

func TestTypes(t *testing.T) {
	f := open(t)
	f.want(ann, abi.SetFact, `"user.age", "old"`, `schema_violation: the value of the fact user.age must be of the type number`)
	f.want(ann, abi.GetFact, `"user.age"`, `null`)
	call := abi.Call{Op: abi.SetFact, Args: []json.RawMessage{json.RawMessage(`"user.born"`), json.RawMessage(`"yesterday"`)}}
	_, effects, err := f.Do(t.Context(), ann, memory.Operator(), call)
	if v := effects.Violations(); err != nil || len(v) != 1 || v[0].Keyword != "type" || string(v[0].Limit) != `"date"` {
		t.Errorf("a value of another type has the violations %v, %v; want one of type", v, err)
	}
	f.want(ann, abi.GetFact, `"user.born"`, `"yesterday"`)
	for value, types := range map[string]string{
		`"x"`: "string", `-1.5`: "number", `true`: "boolean", `[]`: "array", `{}`: "object", `"2026-04-30"`: "string date",
		`"2026-04-30T16:20:00"`: "string date", `"2026-04-30T16:20:00.5+02:00"`: "string date", `"2026-13-01"`: "string",
	} {
		for _, of := range declare.FactTypes() {
			if got := of.Accepts(json.RawMessage(value)); got != strings.Contains(" "+types+" ", " "+string(of)+" ") {
				t.Errorf("the type %s accepts %s: %v", of, value, got)
			}
		}
	}
}

func TestBadArguments(t *testing.T) {
	f := open(t)
	for args, want := range map[string]string{
		`"language", 1`: `"language" is not a path`, `"user..x", 1`: "is not a path", `"User.ä", 1`: "is not a path", `5, 1`: "must be a string", `null, 1`: "must be a string",
		`"` + strings.Repeat("user.x", 100) + `", 1`: "is not a path", `"user.x"`: "missing or null", `"user.x", null`: "missing or null",
		`"user.x", 1, {"tll": "1h"}`: `unknown option "tll"`, `"user.x", 1, {"ttl": "soon"}`: `the option "ttl" must be a duration`, `"user.x", 1, 5`: "the options must be an object",
	} {
		f.want(ann, abi.SetFact, args, "invalid_argument: ")
		if got := f.call(ann, memory.Operator(), abi.SetFact, args); !strings.Contains(got, want) {
			t.Errorf("set_fact(%s) = %s; want %s", args, got, want)
		}
	}
	for size, want := range map[int]string{128: `{`, 129: `{`, 512: `{`, 513: "invalid_argument: "} {
		f.want(ann, abi.SetFact, `"user.`+strings.Repeat("x", size-5)+`", 1`, want)
	}
	f.want(ann, abi.SetFact, `"user.x", "`+strings.Repeat("x", 300<<10)+`"`, "too_large: ")
	f.want(ann, abi.ListFacts, `null, null, 0`, "invalid_argument: the argument limit must be a whole number from 1 to 1000")
	for _, args := range []string{`"user."`, `".user"`, `"user..x"`, `"."`, `null, null, null, "user."`} {
		f.want(ann, abi.ListFacts, args, "invalid_argument: ")
	}
	f.want(ann, abi.ListFacts, `5`, "invalid_argument: the argument prefix must be a string that is not empty")
}

func granted(grants ...string) memory.Authority {
	var list []declare.Grant
	for _, g := range grants {
		name, verbs, _ := strings.Cut(g, ": ")
		parsed, err := declare.ParseVerbs(verbs)
		if err != nil {
			panic(err)
		}
		list = append(list, declare.GrantOn(name, parsed...))
	}
	return memory.Granted(list)
}

// TestListsReadOnlyGranted checks that a list reads no facts except those that its grants and its
// prefix cover. The effects of the list must not contain other facts. Other facts must not cause a
// conflict or count toward a limit.
func TestListsReadOnlyGranted(t *testing.T) {
	f := open(t)
	large := `"` + strings.Repeat("x", 250<<10) + `"`
	for i := range 70 {
		path := fmt.Sprintf("user.secret.n%02d", i)
		f.want(ann, abi.SetFact, `"`+path+`", `+large, `{`)
		f.want(ann, abi.SetFact, fmt.Sprintf(`"project.n%02d", `, i)+large, `{`)
	}
	f.want(ann, abi.SetFact, `"user.travel.seat", 1`, `{`)
	f.want(ann, abi.SetFact, `"user.travels", 1`, `{`)
	f.want(ann, abi.SetFact, `"user.age", 1`, `{`)
	for _, tt := range []struct{ grants, args, want string }{
		{"user.travel.*: read", ``, "user.travel.seat@1"},
		{"user.travel.*: read", `"user"`, "user.travel.seat@1"},
		{"user.travel.*: read", `"user.travel.seat"`, "user.travel.seat@1"},
		{"user.travel.*: read", `"user.age"`, ""},
		{"user.age: read, user.nothing: read", ``, "user.age@1 user.nothing@0"},
		{"user.*: read", `"user.travel"`, "user.travel.seat@1"},
		{"user.*: write, user.travel.*: readwrite", ``, "user.travel.seat@1"},
		{"user.travel.*: read, user.travel.seat: read", ``, "user.travel.seat@1"},
		{"user.travel.seat: read, user.travel.*: read", ``, "user.travel.seat@1"},
		{"user.age: read", `"user.travel"`, ""},
	} {
		call := abi.Call{Op: abi.ListFacts}
		if err := json.Unmarshal([]byte("["+tt.args+"]"), &call.Args); err != nil {
			t.Fatal(err)
		}
		reply, effects, err := f.Do(t.Context(), ann, granted(strings.Split(tt.grants, ", ")...), call)
		if listed := strings.Count(string(reply), `"path"`); listed != strings.Count(tt.want, "@1") {
			t.Errorf("list_facts(%s) with %s lists %d facts; want those of %q", tt.args, tt.grants, listed, tt.want)
		}
		var read []string
		for _, r := range effects.Reads {
			read = append(read, fmt.Sprintf("%s@%d", r.Item, r.Revision))
		}
		slices.Sort(read)
		if got := strings.Join(read, " "); err != nil || got != tt.want {
			t.Errorf("list_facts(%s) with %s has read %q, %v; want %q", tt.args, tt.grants, got, err, tt.want)
		}
	}
	if got := f.paths(ann, `{"limit": 1000}`); strings.Count(got, " ")+1 != 143 {
		t.Errorf("an operator's pages have %d facts; want 143", strings.Count(got, " ")+1)
	}
}

// TestListsOfManyFacts checks that the work for a list is limited for every page size.
func TestListsOfManyFacts(t *testing.T) {
	f := open(t)
	for i := range 1500 {
		f.want(ann, abi.SetFact, fmt.Sprintf(`"user.n%d", 1`, i), `{`)
	}
	for range 3 {
		f.want(ann, abi.ListFacts, `"user", "zz", 1`, `{"facts":[],"next":null}`)
	}
}

func TestGrants(t *testing.T) {
	f := open(t)
	f.want(ann, abi.SetFact, `"user.secret", 1`, `{`)
	f.want(ann, abi.SetFact, `"user.travel.seat", "aisle"`, `{`)
	f.want(ann, abi.SetFact, `"user.travelling", 1`, `{`)
	a := granted("user.language: read", "user.travel.*: readwrite", "user.age: write")
	for _, tt := range []struct{ op, args, want string }{
		{abi.GetFact, `"user.language"`, `"en"`},
		{abi.SetFact, `"user.language", "fr"`, `access_denied: the tool has no write grant on the fact "user.language"`},
		{abi.GetFact, `"user.secret"`, `not_found: the fact "user.secret" does not exist or was not granted to this tool`},
		{abi.GetFact, `"user.nothing"`, `not_found: the fact "user.nothing" does not exist or was not granted to this tool`},
		{abi.DeleteFact, `"user.travel.seat"`, `{"success":true,"deleted":true}`},
		{abi.SetFact, `"user.travel.meal", "vegan"`, `{"success":true`},
		{abi.SetFact, `"user.age", 40`, `{"success":true`},
		{abi.GetFact, `"user.age"`, `access_denied: `},
		{abi.SetFact, `"user.age", 41, {"if_revision": 3}`, `conflict: `},
		{abi.GetFact, `"user.travelling"`, `not_found: `},
		{abi.ListFacts, ``, `{"facts":[{"path":"user.travel.meal","value":"vegan",`},
		{abi.ListFacts, `"user.travel."`, `invalid_argument: `},
	} {
		if got := f.call(ann, a, tt.op, tt.args); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s(%s) = %s; want %s", tt.op, tt.args, got, tt.want)
		}
	}
	if got := f.call(ann, a, abi.ListFacts, ""); strings.Count(got, `"path"`) != 1 {
		t.Errorf("list_facts = %s; want only the granted fact", got)
	}
	for _, grants := range [][]string{{"facts: read", "user.x: write"}, {"user.x: write", "facts: read"}} {
		if got := f.call(ann, granted(grants...), abi.SetFact, `"user.x", 1`); !strings.HasPrefix(got, `{"success":true`) {
			t.Errorf("set_fact with %q = %s; want success", grants, got)
		}
		if got := f.call(ann, granted(grants...), abi.SetFact, `"user.y", 1`); !strings.HasPrefix(got, "access_denied: ") {
			t.Errorf("set_fact of another fact with %q = %s; want access_denied", grants, got)
		}
	}
	for op, args := range map[string]string{abi.GetFact: `"user.language"`, abi.SetFact: `"user.x", 1`, abi.DeleteFact: `"user.x"`, abi.ListFacts: ``} {
		if got := f.call(ann, memory.Authority{}, op, args); !strings.HasPrefix(got, "not_found: ") {
			t.Errorf("%s without a grant = %s; want not_found", op, got)
		}
		if got := f.call(ann, memory.ReadOnly(granted("facts: readwrite")), op, args); strings.HasPrefix(got, "access_denied: ") != (op == abi.SetFact || op == abi.DeleteFact) {
			t.Errorf("%s with read rights = %s", op, got)
		}
	}
}

func TestList(t *testing.T) {
	f := open(t)
	for _, path := range []string{"user.a", "user.travel.seat", "user.travel.meal", "project.b", "workflow.c", "user.preferences.x"} {
		f.want(ann, abi.SetFact, `"`+path+`", 1`, `{`)
		f.want(bob, abi.SetFact, `"`+path+`", 2`, `{`)
	}
	for options, want := range map[string]string{
		``:                                "project.b user.a user.preferences.x user.travel.meal user.travel.seat workflow.c",
		`{"prefix": "user"}`:              "user.a user.preferences.x user.travel.meal user.travel.seat",
		`{"prefix": "user.travel"}`:       "user.travel.meal user.travel.seat",
		`{"prefix": "user.trav"}`:         "",
		`{"domain": "preferences"}`:       "user.preferences.x user.travel.seat",
		`{"domain": "travel"}`:            "user.travel.meal",
		`{"prefix": "user", "limit": 1}`:  "user.a user.preferences.x user.travel.meal user.travel.seat",
		`{"limit": 2}`:                    "project.b user.a user.preferences.x user.travel.meal user.travel.seat workflow.c",
		`{"domain": "travel","limit": 1}`: "user.travel.meal",
	} {
		if got := f.paths(ann, options); got != want {
			t.Errorf("list_facts(%s) = %s; want %s", options, got, want)
		}
	}
	visitor := as("", "s9")
	f.want(visitor, abi.SetFact, `"workflow.own", 1`, `{`)
	if got := f.paths(visitor, ``); got != "project.b workflow.own" {
		t.Errorf("list_facts without a user = %s; want the facts of the session and of the app", got)
	}
}

// paths reads all pages of a list and returns the sorted paths.
func (f *facts) paths(c partition.Caller, options string) string {
	f.t.Helper()
	opts := map[string]any{}
	if options != "" {
		if err := json.Unmarshal([]byte(options), &opts); err != nil {
			f.t.Fatal(err)
		}
	}
	found := map[string]bool{}
	for {
		text, err := json.Marshal([]any{opts["prefix"], opts["domain"], opts["limit"], opts["after"]})
		if err != nil {
			f.t.Fatal(err)
		}
		var page struct {
			Facts []struct{ Path string }
			Next  *string
		}
		reply := f.call(c, memory.Operator(), abi.ListFacts, strings.Trim(string(text), "[]"))
		if err := json.Unmarshal([]byte(reply), &page); err != nil {
			f.t.Fatalf("list_facts(%s) = %s", text, reply)
		}
		for _, fact := range page.Facts {
			if found[fact.Path] {
				f.t.Errorf("%s is on two pages", fact.Path)
			}
			found[fact.Path] = true
		}
		if page.Next == nil {
			return strings.Join(sortedKeys(found), " ")
		}
		opts["after"] = *page.Next
	}
}

// TestUserData checks that an erasure removes the facts of the user and the facts of the user's
// sessions. All other facts must remain.
func TestUserData(t *testing.T) {
	f := open(t)
	for _, path := range []string{"user.a", "project.b", "workflow.c"} {
		f.want(ann, abi.SetFact, `"`+path+`", 1`, `{`)
	}
	f.want(bob, abi.SetFact, `"user.a", 2`, `{`)
	data, err := f.UserData(t.Context(), ann)
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]bool{}
	if err := data.Records(t.Context(), func(r memory.UserRecord) error {
		exported[r.Store+"/"+r.Item+"="+string(r.Content)] = true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(sortedKeys(exported), " "); got != "facts/user.a=1 facts/workflow.c=1" {
		t.Errorf("the export has %s", got)
	}
	erased, err := f.Erase(t.Context(), ann)
	if err != nil || erased.Stores[declare.Facts] != 2 {
		t.Errorf("Erase = %+v, %v; want 2 facts", erased, err)
	}
	if got := f.paths(bob, ``); got != "project.b user.a" {
		t.Errorf("then bob has %s", got)
	}
}

// TestSerializable executes a run that lists facts. During the first attempt, another run adds a
// fact to the list. The first run must be executed again.
func TestSerializable(t *testing.T) {
	f := open(t)
	f.want(ann, abi.SetFact, `"project.n", 1`, `{`)
	attempts := 0
	_, err := f.Transact(t.Context(), &memory.Tx{Caller: ann, Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
		attempts++
		if _, err := v.Call(ctx, abi.Call{Op: abi.ListFacts}); err != nil {
			return err
		}
		if attempts == 1 {
			f.want(bob, abi.SetFact, `"project.other", 1`, `{`)
		}
		_, err := v.Call(ctx, abi.Call{Op: abi.SetFact, Args: []json.RawMessage{json.RawMessage(`"user.n"`), json.RawMessage(`2`)}})
		return err
	})
	if err != nil || attempts != 2 {
		t.Errorf("a list that met an insert took %d attempts, %v; want 2", attempts, err)
	}
}

func TestScopeChange(t *testing.T) {
	f := open(t)
	if err := f.Declare(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	f.want(ann, abi.SetFact, `"user.a", 1`, `{`)
	infos, _, err := f.List(t.Context(), partition.Caller{Tenant: "acme"}, declare.Facts, "", 10)
	if err != nil || len(infos) != 1 || infos[0].Item != "user.a" || infos[0].User != "ann" {
		t.Errorf("List = %v, %v; want ann's fact", infos, err)
	}
	audits, err := f.Audit(t.Context(), "acme")
	if err != nil || len(audits) != 1 || audits[0].Records != 1 || audits[0].Moved != "" || audits[0].Unfit != 0 {
		t.Errorf("Audit = %+v, %v; want one record", audits, err)
	}
	moved, err := memory.New(memory.Config{App: "shop", Backend: f.backend, Now: func() time.Time { return f.now }, Stores: []declare.Store{
		declare.FactStore([]declare.Fact{{Path: "user.a", Scope: declare.ScopeApplication}, {Path: "user.language", Scope: declare.ScopeApplication}}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	changed, ok := errors.AsType[*memory.ScopeChangedError](moved.Declare(t.Context(), "acme"))
	if !ok || changed.Item != "user.a" || changed.Records != 1 || changed.Was != declare.ScopeUser || changed.Is != declare.ScopeApplication {
		t.Errorf("Declare with another scope = %+v; want the fact user.a", changed)
	}
	later := &facts{t: t, Service: moved}
	later.want(as("ann", "s1"), abi.ListFacts, ``, `{"facts":[],"next":null}`) // the record has another scope
	if audits, err = moved.Audit(t.Context(), "acme"); err != nil || audits[0].Moved != declare.ScopeUser {
		t.Errorf("Audit = %+v, %v; want records of another scope", audits, err)
	}
}

func TestMistakes(t *testing.T) {
	for _, tt := range []struct {
		fact declare.Fact
		want string
	}{
		{declare.Fact{Path: "language"}, "is not a path"},
		{declare.Fact{Path: "user.x", Type: "text"}, `unknown type "text"`},
		{declare.Fact{Path: "user.x", Scope: "tenant"}, `unknown scope "tenant"`},
		{declare.Fact{Path: "user.x", Type: declare.FactNumber, Default: json.RawMessage(`"a"`)}, "is not of the type number"},
		{declare.Fact{Path: "user.x", TTL: -1}, "out of range"},
	} {
		_, err := memory.New(memory.Config{App: "shop", Backend: mem.New(), Stores: []declare.Store{declare.FactStore([]declare.Fact{tt.fact})}})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: New = %v; want %s", tt.fact, err, tt.want)
		}
	}
	_, err := memory.New(memory.Config{App: "shop", Backend: mem.New(), Stores: []declare.Store{{Name: "notes", Access: declare.ScopeByItem}}})
	if err == nil || !strings.Contains(err.Error(), `does not support the access "item"`) {
		t.Errorf("documents with the access item: New = %v", err)
	}
}

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
