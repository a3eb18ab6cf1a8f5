package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
)

// files returns a file system. The arguments of files are pairs. Each pair is a path and the
// content of the file.
func files(parts ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(parts); i += 2 {
		fsys[parts[i]] = &fstest.MapFile{Data: []byte(parts[i+1]), Mode: 0o644}
	}
	return fsys
}

// mustLoad loads an app. If there are errors, the test fails.
func mustLoad(t *testing.T, parts ...string) *app.App {
	t.Helper()
	a, problems := app.Load(files(parts...), "app.yaml")
	if err := problems.Err(); err != nil || a == nil {
		t.Fatalf("Load: %v", err)
	}
	return a
}

const shop = `
app: shop
session_idle: 30m
workflow_idle: 2h
default_tool: save_prefs
memory:
  userPrefs:
    name: User preferences
    description: What the user asked us to remember
    access: user
    retention: 1_month
    strict: true
    schema: userPrefs.schema.json
  cart:
    access: session
    kind: document
    schema: {type: object, properties: {total: {type: number, maximum: 1.50e3}}}
  flags: {access: application, retention: 90d, schema: , expose: resource}
tools:
  save_prefs:
    source: tools/save_prefs.js
    title: Save preferences
    description: Save what the user prefers
    inputSchema: {type: object, properties: {language: {type: string}, area: {}}, required: [language]}
    outputSchema: {type: object}
    annotations: {title: Save, readOnlyHint: false, idempotentHint: true}
    grants: {userPrefs: readwrite, sessionMeta: read, cart: [delete, read], flags: "write, read"}
    env: {REGION: eu, PORT: 0080, DEBUG: true, EMPTY: ""}
    limits: {timeout: 2s, memory: 64MiB}
  plugin: {source: plugin, description: A folder, grants: {}}
prompts:
  greeting: {template: "Hello {{memory.sessionMeta.metadata.userName}}!", description: Says hello, grants: {sessionMeta: read}}
`

func TestLoad(t *testing.T) {
	fsys := files("app.yaml", shop,
		"userPrefs.schema.json", "{\n\t\"type\": \"object\",\n\t\"properties\": {\"language\": {\"type\": \"string\"}}\n}\n",
		"tools/save_prefs.js", "", "plugin/main.wasm", "",
		"plugin/tool.json", `{"entry": "start", "description": "not this one", "grants": {"flags": "read"}, "env": {"A": "b"}}`)
	got, problems := app.Load(fsys, "app.yaml")
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	yes, no := true, false
	want := &app.App{
		ID: "shop", DefaultTool: "save_prefs", SessionIdle: 30 * time.Minute, WorkflowIdle: 2 * time.Hour, Files: fsys,
		Stores: []declare.Store{
			{Name: "userPrefs", Title: "User preferences", Description: "What the user asked us to remember",
				Kind: declare.KindDocument, Access: declare.ScopeUser, Retention: declare.Retention{For: 30 * 24 * time.Hour},
				Strict: true, Schema: json.RawMessage(`{"type":"object","properties":{"language":{"type":"string"}}}`)},
			{Name: "cart", Kind: declare.KindDocument, Access: declare.ScopeSession, Retention: declare.Retention{Session: true},
				Schema: json.RawMessage(`{"type":"object","properties":{"total":{"type":"number","maximum":1.50e3}}}`)},
			{Name: "flags", Kind: declare.KindDocument, Access: declare.ScopeApplication, Retention: declare.Retention{For: 90 * 24 * time.Hour}, Resource: true},
		},
		Tools: []app.Tool{
			{Tool: declare.Tool{Name: "save_prefs", Title: "Save preferences", Description: "Save what the user prefers", Source: "tools/save_prefs.js",
				InputSchema:  json.RawMessage(`{"type":"object","properties":{"language":{"type":"string"},"area":{}},"required":["language"]}`),
				OutputSchema: json.RawMessage(`{"type":"object"}`),
				Annotations:  declare.Annotations{Title: "Save", ReadOnlyHint: &no, IdempotentHint: &yes},
				Grants: []declare.Grant{
					{Store: "userPrefs", Verbs: []abi.Verb{abi.Read, abi.Write, abi.Delete}},
					{Store: "sessionMeta", Verbs: []abi.Verb{abi.Read}},
					{Store: "cart", Verbs: []abi.Verb{abi.Read, abi.Delete}},
					{Store: "flags", Verbs: []abi.Verb{abi.Read, abi.Write}},
				},
				Env:    map[string]string{"REGION": "eu", "PORT": "0080", "DEBUG": "true", "EMPTY": ""},
				Limits: declare.Limits{Timeout: 2 * time.Second, Memory: 64 << 20}}},
			// Only the manifest contains the key "env". The app file and the manifest contain the
			// keys "description" and "grants". For these keys, the values in the app file are used.
			{Tool: declare.Tool{Name: "plugin", Description: "A folder", Source: "plugin/main.wasm", Dir: "plugin", Entry: "start", Env: map[string]string{"A": "b"}}},
		},
		Prompts: []app.Prompt{{Prompt: declare.Prompt{Name: "greeting", Description: "Says hello", Template: "Hello {{memory.sessionMeta.metadata.userName}}!",
			Grants: []declare.Grant{{Store: "sessionMeta", Verbs: []abi.Verb{abi.Read}}}}}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(app.App{}, app.Prompt{}, app.Tool{})); diff != "" {
		t.Errorf("Load (-want +got):\n%s", diff)
	}
	if got, want := got.Tools[0].Params(), []string{"language", "area"}; !cmp.Equal(got, want) {
		t.Errorf("Params = %v; want %v", got, want)
	}
}

// scopeSelection is the section "memory" of an app file. It is copied from the documentation of the
// vendor.
const scopeSelection = `
# User preferences - persist across sessions
userPrefs:
  access: user
  retention: 1_month

# Shopping cart - session only
cart:
  access: session
  retention: session

# Feature flags - app-wide
featureFlags:
  access: application
  retention: 1_week
`

func TestVendorForm(t *testing.T) {
	a := mustLoad(t, "app.yaml", "app: vendor\nmemory:"+strings.ReplaceAll(scopeSelection, "\n", "\n  "))
	want := []declare.Store{
		{Name: "userPrefs", Kind: declare.KindDocument, Access: declare.ScopeUser, Retention: declare.Retention{For: 30 * 24 * time.Hour}},
		{Name: "cart", Kind: declare.KindDocument, Access: declare.ScopeSession, Retention: declare.Retention{Session: true}},
		{Name: "featureFlags", Kind: declare.KindDocument, Access: declare.ScopeApplication, Retention: declare.Retention{For: 7 * 24 * time.Hour}},
	}
	if diff := cmp.Diff(want, a.Stores); diff != "" {
		t.Errorf("stores (-want +got):\n%s", diff)
	}
}

func TestStoreLimit(t *testing.T) {
	text := "app: shop\nmemory:\n"
	for i := range 16 {
		text += "  orders" + string(rune('a'+i)) + ": {access: user}\n"
	}
	fsys := files("app.yaml", text)
	a, problems := app.Load(fsys, "app.yaml")
	if a != nil || len(problems) != 1 || problems[0].Code != problem.OverLimit || problems[0].Line != 18 {
		t.Errorf("16 stores: app %v, problems %v; want over_limit in line 18", a, problems)
	}
	if a, problems := (app.Loader{MaxStores: 16}).Load(fsys, "app.yaml"); a == nil {
		t.Errorf("16 stores of 16: %v", problems)
	}
}

func TestDeclaredLimits(t *testing.T) {
	for limits, ok := range map[string]bool{
		"timeout: 180s": true, "timeout: 3m": true, "timeout: 500ms": true, "timeout: 181s": false, "timeout: 0s": false, "timeout: 1.5s": false,
		"memory: 1MiB": true, "memory: 4GiB": true, "memory: 64MB": true, "memory: 64mb": false, "memory: 1KiB": false, "memory: 5GiB": false, "memory: 67108864": false,
		"cpu: 1s": true, "cpu: 181s": false, "output: 1KiB": true, "output: 1kB": false, "calls: 1": true, "calls: 0": false,
		"calls: '1'": false, "fuel: 1000000000000": true, "fuel: 1000000000001": false, "fuel: 1.5": false,
	} {
		a, problems := app.Load(files("app.yaml", "app: a\ntools: {t: {source: t.js, description: d, limits: {"+limits+"}}}", "t.js", ""), "app.yaml")
		if a == nil {
			t.Fatalf("%s: %v", limits, problems)
		}
		if got := len(a.Tools[0].Broken) == 0; got != ok {
			t.Errorf("%s: accepted = %v; want %v (%v)", limits, got, ok, problems)
		}
	}
	small := app.Loader{MaxTimeout: time.Second, MaxMemory: 2 << 20}
	a, _ := small.Load(files("app.yaml", "app: a\ntools: {t: {source: t.js, limits: {timeout: 2s, memory: 3MiB}}}", "t.js", ""), "app.yaml")
	if got := len(a.Tools[0].Broken); got != 2 {
		t.Errorf("%d errors about the limits of the Loader; want 2", got)
	}
}

func TestProblemsAsError(t *testing.T) {
	_, problems := app.Load(files("app.yaml", "app: shop\nmemory: {temp: {acces: user}}"), "app.yaml")
	var all problem.List
	if err := problems.Err(); !errors.As(err, &all) || len(all) != 1 {
		t.Fatalf("Err = %v; want an error without the warnings", err)
	}
	want := "app.yaml:2:17: a store has no key \"acces\"\n  hint: did you mean \"access\"?"
	if got := all.Error(); got != want {
		t.Errorf("Error = %q; want %q", got, want)
	}
	if got := problems.Warnings(); len(got) != 1 || !strings.HasPrefix(got[0].String(), "app.yaml:2:10: warning: ") {
		t.Errorf("Warnings = %v; want one in 2:10", got)
	}
	text, err := json.Marshal(all[0])
	const asJSON = `{"file":"app.yaml","line":2,"column":17,"message":"a store has no key \"acces\"","hint":"did you mean \"access\"?","code":"unknown_key","severity":"error"}`
	if err != nil || string(text) != asJSON {
		t.Errorf("JSON = %s, %v; want %s", text, err, asJSON)
	}
	if err := (problem.List{}).Err(); err != nil {
		t.Errorf("Err without problems = %v; want nil", err)
	}
}

func TestSchemaTexts(t *testing.T) {
	for schema, want := range map[string]string{
		"{maximum: 0x10}": `"0x10" is not a JSON number`,
		"{type: array}":   "the input schema of a tool must be of type object",
		"{$ref: x.json}":  "$ref",
		"array.json":      "the input schema of a tool must be of type object",
		"rows.json":       "a JSON Schema must be an object, not a list",
	} {
		_, problems := app.Load(files("app.yaml", "app: a\ntools: {t: {source: t.js, description: d, inputSchema: "+schema+"}}", "t.js", "", "rows.json", "[]", "array.json", `{"type": "array"}`), "app.yaml")
		if len(problems) != 1 || problems[0].Code != problem.BadSchema || !strings.Contains(problems[0].Message, want) {
			t.Errorf("schema %s: %v; want one bad_schema with %q", schema, problems, want)
		}
	}
}

// If a file has too many problems, Load truncates the list of problems and returns no app.
func TestProblemLimit(t *testing.T) {
	const tools = 600
	text := "app: shop\ntools:\n"
	for i := range tools {
		text += fmt.Sprintf("  t%d: {a: 1, b: 2}\n", i)
	}
	a, problems := app.Load(files("app.yaml", text), "app.yaml")
	if last := problems[len(problems)-1]; a != nil || len(problems) != 1001 || last.Code != problem.OverLimit || last.Tool != "" {
		t.Errorf("%d mistakes: app = %v, %d problems, the last is %v; want no app, and a last problem about omitted problems", 3*tools, a, len(problems), last)
	}
}

// An error in the text of a template has a position in this text. TestPromptPlaces checks that this
// position is converted to the correct position in the app file.
func TestPromptPlaces(t *testing.T) {
	const text = `app: shop
prompts:
  plain: {template: Hello you}
  quoted:
    template: "Hello you"
  escaped: {template: "Hello\nyou"}
  block:
    template: |
      Hello
        you

      there
  folded:
    template: >
      Hello
      you
`
	for _, end := range []string{"\n", "\r\n", "\r"} {
		checkPlaces(t, mustLoad(t, "app.yaml", strings.ReplaceAll(text, "\n", end)))
	}
}

func checkPlaces(t *testing.T, a *app.App) {
	t.Helper()
	for _, tt := range []struct {
		prompt               string
		line, column         int
		wantLine, wantColumn int
	}{
		{"plain", 1, 7, 3, 27},
		{"quoted", 1, 7, 5, 22},
		{"escaped", 2, 1, 6, 23},
		{"block", 1, 1, 9, 7},
		{"block", 2, 3, 10, 9},
		{"block", 4, 2, 12, 8},
		{"folded", 1, 7, 14, 15},
	} {
		prompt, _ := a.Prompt(tt.prompt)
		p := prompt.Problem(tt.line, tt.column, "message", "hint")
		if p.Line != tt.wantLine || p.Column != tt.wantColumn || p.Prompt != tt.prompt || p.File != "app.yaml" {
			t.Errorf("%s %d:%d is at %s:%d:%d; want %d:%d", tt.prompt, tt.line, tt.column, p.File, p.Line, p.Column, tt.wantLine, tt.wantColumn)
		}
	}
}
