package app_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolrun/toolrun/host/app"
)

func addSeeds(f *testing.F) {
	archives, err := filepath.Glob("testdata/problems/*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	for _, text := range []string{
		shop, scopeSelection, billionLaughs("[]"), "", "\rA", "{app: a, tools: {t: {source: \"./A:\"}}}", "app: a\r\nmemory:\r  b: c", "---\n---\na: 1", "app: &a {b: *a}", "{\"app\":\"a\",\"app\":\"b\"}", "? a\n: b",
		"app: a\nmemory: {m: {access: user, schema: {type: object, properties: {a: {default: 1}}}}}\nprompts: {p: {template: |2\n   x\n}}",
		"app: a\nmemory: {m: {<<: {access: user}, retention: 90d}}\ntools: {t: {source: t/, env: {A: .inf}}, T: {source: t}}",
	} {
		f.Add([]byte(text))
	}
}

// Load must not panic, whatever the input is. The positions of its problems must exist in the file.
func FuzzLoad(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		fsys := files("app.yaml", string(text), "s.json", `{"type": "object"}`, "t.js", "", "t/main.js", "", "t/tool.json", string(text))
		a, problems := app.Load(fsys, "app.yaml")
		if a == nil && problems.Err() == nil {
			t.Fatal("Load returned neither an app nor an error")
		}
		lines := strings.Count(strings.ReplaceAll(string(text), "\r", "\n"), "\n") + 1
		for _, p := range problems {
			if p.File != "app.yaml" && p.File != "t/tool.json" && p.File != "s.json" {
				t.Errorf("problem in %q: %s", p.File, p)
			}
			if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Message == "" || p.Code == "" {
				t.Errorf("problem with an invalid position in %d lines: %+v", lines, p)
			}
		}
	})
}

// An app is imported, exported, and imported again. Both imports must return the same app.
func FuzzExport(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		a, _ := app.Import("app.yaml", text)
		if a == nil {
			return
		}
		once, err := app.Export(a)
		if err != nil {
			return // the app has a broken tool or prompt, or the document is too large
		}
		b, problems := app.Import("export.json", once)
		if b == nil {
			t.Fatalf("Import(Export(a)): %v\n%s", problems, once)
		}
		twice, err := app.Export(b)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("Export changed: %v\n%s\n%s", err, once, twice)
		}
	})
}
