package app_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/problem"
)

func loadShop(t *testing.T) *app.App {
	return mustLoad(t, "app.yaml", shop, "userPrefs.schema.json", `{"properties": {"language": {"pattern": "<\u0026>\u2028é", "maxLength": 1e2}}}`,
		"tools/save_prefs.js", "", "plugin/main.wasm", "", "plugin/tool.json", `{"grants": {"userPrefs": "readwrite"}, "entry": "start"}`)
}

func TestExport(t *testing.T) {
	a := loadShop(t)
	got, err := app.Export(a)
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/export.golden"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("Export (-want +got):\n%s", diff)
	}
	b, problems := app.Import("shop.json", got)
	if len(problems) > 0 {
		t.Fatalf("Import: %v", problems)
	}
	again, err := app.Export(b)
	if err != nil || !bytes.Equal(again, got) {
		t.Errorf("Export(Import(Export(a))) = %s, %v; want the same bytes", again, err)
	}
	same := cmp.Options{cmpopts.IgnoreUnexported(app.App{}, app.Prompt{}, app.Tool{}), cmpopts.IgnoreFields(app.App{}, "Files"), cmpopts.IgnoreFields(app.Tool{}, "Source"), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(a, b, same); diff != "" {
		t.Errorf("Import(Export(a)) (-a +got):\n%s", diff)
	}
}

// An export is an app file that declares the same app as the original file. If the original app
// file rejected grants, an export does not contain these grants.
func TestExportIsAnAppFile(t *testing.T) {
	a := loadShop(t)
	text, err := app.Export(a)
	if err != nil {
		t.Fatal(err)
	}
	b := mustLoad(t, "app.yaml", string(text), "tools/save_prefs.js", "", "plugin/main.wasm", "",
		"plugin/tool.json", `{"grants": {"userPrefs": "readwrite"}, "entry": "start"}`)
	same := cmp.Options{cmpopts.IgnoreUnexported(app.App{}, app.Prompt{}, app.Tool{}), cmpopts.IgnoreFields(app.App{}, "Files"), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(a, b, same); diff != "" {
		t.Errorf("Load(Export(a)) (-a +got):\n%s", diff)
	}
}

func TestExportRefusesBrokenParts(t *testing.T) {
	for _, text := range []string{"app: a\ntools: {t: {source: gone.js}}", "app: a\nprompts: {p: {}}"} {
		a, _ := app.Load(files("app.yaml", text), "app.yaml")
		if _, err := app.Export(a); err == nil || !strings.Contains(err.Error(), "is invalid") {
			t.Errorf("Export of %q: %v; want an error", text, err)
		}
	}
}

func TestImportLooksAtNoFiles(t *testing.T) {
	a, problems := app.Import("x.yaml", []byte(`{app: a, memory: {m: {access: user, schema: s.json}}, tools: {t: {source: gone/}}}`))
	if a != nil || problems.Err() == nil || problems[0].Code != problem.BadValue && problems[1].Code != problem.BadValue {
		t.Errorf("a schema in a file: %v, %v; want an error", a, problems)
	}
	a, problems = app.Import("x.yaml", []byte(`{app: a, tools: {t: {source: gone/}, u: {source: gone.py}, v: {source: gone.rb}, w: {source: ../gone.js}}}`))
	if a == nil {
		t.Fatal(problems)
	}
	for i, wantBroken := range []bool{false, false, true, true} {
		if got := a.Tools[i]; (len(got.Broken) > 0) != wantBroken {
			t.Errorf("tool %s: broken %v; want %v", got.Name, got.Broken, wantBroken)
		}
	}
	if a.Tools[0].Dir != "gone" || a.Tools[1].Source != "gone.py" {
		t.Errorf("tools = %+v", a.Tools)
	}
}
