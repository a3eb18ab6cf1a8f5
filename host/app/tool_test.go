package app_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
)

func TestLoadTool(t *testing.T) {
	fsys := files(
		"notes/tool.json", `{"name": "take_note", "description": "Takes a note", "inputSchema": {"type": "object"},
			"grants": {"notes": ["read", "write"]}, "limits": {"timeout": "1s"}, "env": {"A": 1}}`,
		"notes/main.py", "", "plain/index.ts", "", "my tool!.js", "", "readme.md", "",
		"tool.json", `{"source": "my tool!.js", "description": "In the root"}`,
		"wrong/tool.json", `{"sorce": "x.js", "description": "d", "grants": {"x": "all"}}`, "wrong/main.js", "",
	)
	for _, tt := range []struct {
		path string
		want app.Tool
	}{
		{"notes", app.Tool{Tool: declare.Tool{Name: "take_note", Description: "Takes a note", Source: "notes/main.py", Dir: "notes",
			InputSchema: json.RawMessage(`{"type":"object"}`), Env: map[string]string{"A": "1"}, Limits: declare.Limits{Timeout: time.Second},
			Grants: []declare.Grant{{Store: "notes", Verbs: []abi.Verb{abi.Read, abi.Write}}}}}},
		{"plain", app.Tool{Tool: declare.Tool{Name: "plain", Source: "plain/index.ts", Dir: "plain"}}},
		{"my tool!.js", app.Tool{Tool: declare.Tool{Name: "my_tool", Source: "my tool!.js"}}},
		{".", app.Tool{Tool: declare.Tool{Name: "tool", Description: "In the root", Source: "my tool!.js", Dir: "."}}},
	} {
		got, problems := app.LoadTool(fsys, tt.path)
		if got == nil || len(problems) > 0 {
			t.Errorf("LoadTool(%q): %v", tt.path, problems)
			continue
		}
		if diff := cmp.Diff(tt.want, *got, cmpopts.IgnoreUnexported(app.Tool{})); diff != "" {
			t.Errorf("LoadTool(%q) (-want +got):\n%s", tt.path, diff)
		}
	}
	for path, want := range map[string]string{
		"readme.md":  `readme.md: no engine supports ".md" files such as "readme.md"`,
		"my tool.js": `my tool.js: the path "my tool.js" does not exist`,
		"../x.js":    `../x.js: the path "../x.js" is outside the app's folder`,
		"wrong":      `wrong/tool.json:1:2: a tool manifest has no key "sorce"`,
	} {
		got, problems := app.LoadTool(fsys, path)
		if got != nil || len(problems) == 0 {
			t.Errorf("LoadTool(%q) = %v, %v; want problems", path, got, problems)
			continue
		}
		if text := problems[0].String(); len(text) < len(want) || text[:len(want)] != want {
			t.Errorf("LoadTool(%q): %s; want %s", path, text, want)
		}
	}
}

// The grants in a manifest are only requests. If the app file and the manifest contain the same
// key, the value in the app file is used.
func TestAppFileDecides(t *testing.T) {
	manifest := `{"description": "of the manifest", "title": "Title", "grants": {"cart": "readwrite"}, "env": {"A": "1", "B": "2"}, "limits": {"timeout": "9s", "memory": "9MiB"}}`
	load := func(entry string) app.Tool {
		a := mustLoad(t, "app.yaml", "app: shop\nmemory: {cart: {access: user}}\ntools: {t: {source: t"+entry+"}}", "t/main.js", "", "t/tool.json", manifest)
		return a.Tools[0]
	}
	requested := []declare.Grant{{Store: "cart", Verbs: []abi.Verb{abi.Read, abi.Write, abi.Delete}}}
	if got := load(""); !cmp.Equal(got.Grants, requested) || got.Description != "of the manifest" || got.Limits.Timeout != 9*time.Second {
		t.Errorf("an entry without keys = %+v; want the values in the manifest", got)
	}
	if got := load(", grants: {}"); got.Grants != nil || got.Title != "Title" {
		t.Errorf("an entry with grants: {} = %+v; want no grants", got)
	}
	if got := load(", grants:"); got.Grants != nil {
		t.Errorf("empty grants = %+v; want no grants", got.Grants)
	}
	got := load(", grants: {cart: read}, env: {A: x}, limits: {timeout: 1s}, description: of the app")
	want := app.Tool{Tool: declare.Tool{Name: "t", Title: "Title", Description: "of the app", Source: "t/main.js", Dir: "t",
		Grants: []declare.Grant{{Store: "cart", Verbs: []abi.Verb{abi.Read}}}, Env: map[string]string{"A": "x"}, Limits: declare.Limits{Timeout: time.Second}}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(app.Tool{})); diff != "" {
		t.Errorf("an entry with keys (-want +got):\n%s", diff)
	}
}
