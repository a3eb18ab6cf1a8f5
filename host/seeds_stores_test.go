package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// The documentation page recommends some store names and advises against others. TestSeedNames
// checks all these names.
func TestSeedNames(t *testing.T) {
	block := seedBlocks(t, seedPage)[10].text
	good, poor, found := strings.Cut(block, "# Avoid")
	names := func(text string) []string { return strings.Fields(strings.ReplaceAll(text, "# Good", "")) }
	if !found || len(names(good)) != 3 || len(names(poor)) != 3 {
		t.Fatalf("the page names other stores:\n%s", block)
	}
	for i, name := range append(names(good), names(poor)...) {
		loaded, problems := app.Load(fstest.MapFS{"app.yaml": {Data: []byte("app: samples\nmemory:\n  " + name + ": {access: user}\n")}}, "app.yaml")
		warned := slices.ContainsFunc(problems, func(p problem.Problem) bool { return p.Code == problem.PoorName })
		if loaded == nil || warned != (i >= 3) {
			t.Errorf("the name %s: %v; want a warning about it: %t", name, problems, i >= 3)
		}
	}
}

// TestSeedSchema writes content that the first schema of the documentation page allows.
// TestSeedSchema also writes content that the schema must reject. Each rejected content has an
// invalid nested object, array or time, or an undeclared name.
func TestSeedSchema(t *testing.T) {
	s := newSamples(t)
	for content, pointer := range map[string]string{
		seedPrefs:                               "",
		`{"lastVisit":"2026-04-30T16:20:00.5"}`: "", // the result of Python's isoformat has no time zone
		`{"preferences":{"language":7}}`:        "/preferences/language",
		`{"preferences":{"theme":"dark"}}`:      "/preferences/theme",
		`{"recentOrders":["a1",2]}`:             "/recentOrders/1",
		`{"lastVisit":"yesterday"}`:             "/lastVisit",
		`{"colour":"red"}`:                      "/colour",
	} {
		_, _, err := s.Stores().Do(t.Context(), s.who, memory.Operator(), abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"userPrefs"`), json.RawMessage(content)}})
		if pointer == "" && err == nil {
			continue
		}
		f := abi.FaultOf(err)
		if pointer == "" || f == nil || f.Code != abi.SchemaViolation || len(f.Violations) != 1 || f.Violations[0].Pointer != pointer {
			t.Errorf("set_content(%s) = %v; want a violation at %q", content, err, pointer)
		}
	}
}

// The documentation page shows a schema that has required members and defaults.
// TestSeedRequiredAndDefault stores records with this schema.
func TestSeedRequiredAndDefault(t *testing.T) {
	h := openApp(t, fstest.MapFS{
		"app.yaml":    {Data: []byte("app: samples\nmemory:\n  profile: {access: user, strict: true, schema: schema.json}\n")},
		"schema.json": {Data: []byte(seedBlocks(t, seedPage)[11].text)},
	})
	who := host.Caller{User: "ann"}
	invalid := abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"profile"`), json.RawMessage(`{"preferences":{"a":1}}`)}}
	if _, _, err := h.Stores().Do(t.Context(), who, memory.Operator(), invalid); !errors.Is(err, abi.SchemaViolation) {
		t.Errorf("a record without userId = %v; want schema_violation", err)
	}
	perform(t, h, who, abi.SetContent, `"profile"`, `{"userId":"u1"}`)
	if got := string(perform(t, h, who, abi.GetContent, `"profile"`)); got != `{"preferences":{},"userId":"u1"}` {
		t.Errorf("the record = %s; want the default filled in", got)
	}
}

// TestSeedScopeSelection checks the stores that the page declares.
func TestSeedScopeSelection(t *testing.T) {
	section := "app: samples\nmemory:\n  " + strings.ReplaceAll(seedBlocks(t, seedPage)[8].text, "\n", "\n  ") + "\n"
	loaded, problems := app.Load(fstest.MapFS{"app.yaml": {Data: []byte(section)}}, "app.yaml")
	if loaded == nil {
		t.Fatal(problems)
	}
	var got []string
	for _, st := range loaded.Stores {
		got = append(got, fmt.Sprint(st.Name, " ", st.Access, " ", st.Retention.For, " ", st.Retention.Session))
	}
	want := "userPrefs user 720h0m0s false, cart session 0s true, featureFlags application 168h0m0s false"
	if strings.Join(got, ", ") != want {
		t.Errorf("the stores are %s; want %s", strings.Join(got, ", "), want)
	}
}

const seedRetentions = `
app: APP
memory:
  untilTheEnd: {access: user, retention: session}
  day: {access: user, retention: 1_day}
  week: {access: application, retention: 1_week}
  month: {access: user, retention: 1_month}
  ofSession: {access: session, retention: 1_month}
`

// openRetentions opens an app with one store for each retention and for each scope.
func openRetentions(t *testing.T, id string, b *mem.Backend, now *time.Time) *host.Host {
	t.Helper()
	text := strings.Replace(seedRetentions, "APP", id, 1)
	return openApp(t, fstest.MapFS{"app.yaml": {Data: []byte(text)}}, func(o *host.Options) {
		o.Backend, o.Now = b, func() time.Time { return *now }
	})
}

// For each retention, TestSeedRetentions checks that a record expires exactly at the documented
// time, to the microsecond.
func TestSeedRetentions(t *testing.T) {
	begin := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	now := begin
	h := openRetentions(t, "samples", mem.New(), &now)
	who, later := host.Caller{User: "ann", Session: "s1"}, host.Caller{User: "ann", Session: "s2"}
	for _, store := range []string{"untilTheEnd", "day", "week", "month"} {
		perform(t, h, who, abi.SetContent, `"`+store+`"`, `{"a":1}`)
	}
	for _, tt := range []struct {
		store string
		lives time.Duration
	}{{"day", 24 * time.Hour}, {"week", 7 * 24 * time.Hour}, {"month", 30 * 24 * time.Hour}} {
		store, lives := tt.store, tt.lives
		now = begin.Add(lives - time.Microsecond)
		if got := string(perform(t, h, later, abi.GetContent, `"`+store+`"`)); got != `{"a":1}` {
			t.Errorf("before %s the store %s contains %s; want the record", lives, store, got)
		}
		now = begin.Add(lives)
		if got := string(perform(t, h, later, abi.GetContent, `"`+store+`"`)); got != "null" {
			t.Errorf("after %s the store %s contains %s; want nothing", lives, store, got)
		}
	}
	now = begin.Add(time.Hour)
	if got := string(perform(t, h, later, abi.GetContent, `"untilTheEnd"`)); got != `{"a":1}` {
		t.Errorf("while the session is open the store contains %s; want the record", got)
	}
	if _, err := h.Sessions().End(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	if got := string(perform(t, h, later, abi.GetContent, `"untilTheEnd"`)); got != "null" {
		t.Errorf("after the session the store contains %s; want nothing", got)
	}
}

// TestSeedScopes writes a record in each store. TestSeedScopes then reads the record in another
// session, as another user and in another app.
func TestSeedScopes(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	b := mem.New()
	one, two := openRetentions(t, "one", b, &now), openRetentions(t, "two", b, &now)
	who := host.Caller{User: "ann", Session: "s1"}
	for _, store := range []string{"ofSession", "month", "week"} {
		perform(t, one, who, abi.SetContent, `"`+store+`"`, `{"a":1}`)
	}
	for _, tt := range []struct {
		name string
		h    *host.Host
		who  host.Caller
		want string // the contents of ofSession, month and week
	}{
		{"the same", one, who, `{"a":1} {"a":1} {"a":1}`},
		{"another session", one, host.Caller{User: "ann", Session: "s2"}, `null {"a":1} {"a":1}`},
		{"another user", one, host.Caller{User: "bob", Session: "s3"}, `null null {"a":1}`},
		{"another app", two, who, `null null null`},
	} {
		var got []string
		for _, store := range []string{"ofSession", "month", "week"} {
			got = append(got, string(perform(t, tt.h, tt.who, abi.GetContent, `"`+store+`"`)))
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s reads %s; want %s", tt.name, text, tt.want)
		}
	}
}
