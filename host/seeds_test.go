package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/schema"
)

// seedBlocks returns the fenced code blocks of a vendor's documentation page. For each block, it
// also returns the language.
func seedBlocks(t *testing.T, name string) (blocks []struct{ lang, text string }) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "seeds", name))
	if err != nil {
		t.Skipf("the documentation pages with the samples are not next to the project: %s", name)
	}
	var lang string
	var lines []string
	inside := false
	for line := range strings.SplitSeq(string(text), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && !inside:
			lang, _, _ = strings.Cut(fence, " ")
			inside, lines = true, nil
		case isFence:
			blocks = append(blocks, struct{ lang, text string }{lang, strings.Join(lines, "\n")})
			inside = false
		case inside:
			lines = append(lines, line)
		}
	}
	return blocks
}

const seedApp = `
app: samples
memory:
  userPrefs:
    access: user
    retention: 1_month
    strict: true
    schema: userPrefs.schema.json
  tempProcessingData: {access: session, retention: session}
tools:
  block4: {source: block4.js, description: reads and writes, grants: {userPrefs: readwrite}}
  block6: {source: block6.js, description: reads the session, grants: {sessionMeta: read}}
  block10: {source: block10.js, description: lists files, grants: {sessionMeta: read}}
  block13: {source: block13.js, description: missing data, grants: {userPrefs: read}}
  block14: {source: block14.js, description: cleans up, grants: {tempProcessingData: readwrite}}
`

// TestSeedSamples runs the unchanged code samples of the documentation page about memory stores.
func TestSeedSamples(t *testing.T) {
	blocks := seedBlocks(t, "004_agentic_apps_memory_stores.txt")
	if len(blocks) != 14 {
		t.Fatalf("the page has %d code blocks; want 14", len(blocks))
	}
	block := func(number int) string { return blocks[number-1].text }
	files := fstest.MapFS{
		"app.yaml":              {Data: []byte(seedApp)},
		"userPrefs.schema.json": {Data: []byte(block(2))},
	}
	scripts := []int{4, 6, 10, 13, 14}
	for _, n := range scripts {
		if blocks[n-1].lang != "javascript" {
			t.Fatalf("block %d is %s; want javascript", n, blocks[n-1].lang)
		}
		files["block"+itoa(n)+".js"] = &fstest.MapFile{Data: []byte(block(n))}
	}
	h := openApp(t, files)
	ann := host.Caller{User: "ann", Session: "sess_123"}
	var body struct{ Metadata json.RawMessage }
	if err := json.Unmarshal([]byte(block(8)), &body); err != nil {
		t.Fatalf("block 8: %v", err)
	}
	seed := abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"userPrefs"`),
		json.RawMessage(`{"preferences":{"language":"fr"},"recentOrders":["a1","b2"]}`)}}
	if _, _, err := h.Stores().Do(context.Background(), ann, memory.Operator(), seed); err != nil {
		t.Fatal(err)
	}
	renderSamples(t, h, ann, block(3), block(7), body.Metadata)
	for _, n := range scripts {
		result, err := h.Run(context.Background(), host.Invocation{Tool: "block" + itoa(n), Caller: ann, Metadata: body.Metadata})
		if err != nil {
			t.Errorf("block %d failed: %v", n, err)
		}
		if n == 4 && (len(result.Logs) != 1 || result.Logs[0].Text != "fr" || len(result.Effects.Writes) != 1) {
			t.Errorf("block 4 logged %v and wrote %v; want the language and one deletion", result.Logs, result.Effects.Writes)
		}
	}
}

func renderSamples(t *testing.T, h *host.Host, ann host.Caller, prefs, meta string, metadata json.RawMessage) {
	t.Helper()
	if _, err := h.Sessions().Start(context.Background(), ann, sessionStart(metadata)); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ template, want string }{
		{prefs, "Welcome back! Your preferred language is fr.\n\nYour recent orders:\n[\"a1\",\"b2\"]"},
		{meta, "Hello John!\n\nYou're connecting via mobile_app."},
	}
	for _, tt := range tests {
		if got, err := h.RenderText(context.Background(), ann, tt.template); err != nil || got != tt.want {
			t.Errorf("render = %q, %v; want %q", got, err, tt.want)
		}
	}
}

// TestSeedDeclarations loads the declarations on the documentation page: the schemas, and the
// stores in the section Scope Selection.
func TestSeedDeclarations(t *testing.T) {
	blocks := seedBlocks(t, "004_agentic_apps_memory_stores.txt")
	for _, n := range []int{2, 12} {
		for _, strict := range []bool{false, true} {
			if _, err := schema.Compile([]byte(blocks[n-1].text), schema.Options{Strict: strict}); err != nil {
				t.Errorf("the schema of block %d, strict %t: %v", n, strict, err)
			}
		}
	}
	section := "app: samples\nmemory:\n  " + strings.ReplaceAll(blocks[8].text, "\n", "\n  ") + "\n"
	loaded, problems := app.Load(fstest.MapFS{"app.yaml": {Data: []byte(section)}}, "app.yaml")
	if loaded == nil || len(loaded.Stores) != 3 {
		t.Errorf("the Scope Selection was rejected: %v", problems)
	}
}

// openApp opens a host for an app in RAM, with the JavaScript engine.
func openApp(t *testing.T, files fstest.MapFS, change ...func(*host.Options)) *host.Host {
	t.Helper()
	loaded, problems := app.Load(files, "app.yaml")
	if loaded == nil {
		t.Fatal(problems)
	}
	opts := host.Options{App: loaded, Backend: mem.New(), Engines: testEngines(), SweepEvery: -1}
	for _, f := range change {
		f(&opts)
	}
	h, err := host.Open(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}
