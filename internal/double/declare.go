package double

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/spell"
)

// sources contains one file. The file replaces the code of every tool, because the client executes
// the tools.
//
//go:embed tool.client
var sources embed.FS

const (
	sourceFile      = "tool.client"
	sourceExtension = ".client"
)

// declaration is an app, together with a function that releases its files.
type declaration struct {
	app     *app.App
	release func()
}

// everything is the name of the tool that serves requests without a tool name. Unless the app
// declares a tool with this name, the tool has all grants.
const everything = "test"

// declarationOf reads an app file.
func (s *server) declarationOf(file string) (*declaration, error) {
	a, release, err := s.cfg.Load(file)
	if err != nil {
		return nil, err
	}
	return &declaration{app: a, release: release}, nil
}

// importApp reads the app in a request.
func importApp(document json.RawMessage) (*declaration, error) {
	a, problems := app.Import("app.json", document)
	if a == nil {
		return nil, problemsFault(problems)
	}
	return &declaration{app: a, release: func() {}}, nil
}

// problemsFault returns the fault for a declaration that contains mistakes.
func problemsFault(problems problem.List) error {
	errs, ok := problems.Err().(problem.List)
	if !ok {
		return abi.Faultf(abi.SourceInvalid, "the declaration is invalid")
	}
	const maxListed = 5
	var words []string
	for _, p := range errs[:min(len(errs), maxListed)] {
		words = append(words, p.Message)
	}
	f := abi.Faultf(abi.SourceInvalid, "%s", strings.Join(words, "; "))
	if len(errs) == 1 && errs[0].Hint != "" {
		return f.WithHint("%s", errs[0].Hint)
	}
	return f
}

// runnable returns the app with tools whose code runs in the client.
func runnable(a *app.App, tools []app.Tool) *app.App {
	b := &app.App{ID: a.ID, SessionIdle: a.SessionIdle, WorkflowIdle: a.WorkflowIdle, Stores: a.Stores, AutoCollections: a.AutoCollections, Facts: a.Facts, Blocks: a.Blocks, Files: sources}
	for _, t := range tools {
		t.Source, t.Dir, t.Entry = sourceFile, "", ""
		t.Limits.Timeout, t.Limits.CPU = 0, 0 // no limit, because a debugger may have stopped the client
		b.Tools = append(b.Tools, t)
		t.Name, t.InputSchema, t.OutputSchema = calling(t.Name), nil, nil
		b.Tools = append(b.Tools, t)
	}
	return b
}

// calling returns the name of an additional tool that makes single calls with the grants of a
// declared tool. The additional tool has neither an input schema nor an output schema. No declared
// tool can have the name of an additional tool.
func calling(tool string) string { return tool + " call" }

// manifestOf returns the manifest of a tool with all grants. No tool can have a grant on the
// variables or the transcripts of agents.
func manifestOf(a *app.App) map[string]any {
	grants := map[string]string{declare.SessionMeta: "read"}
	for _, s := range a.AllStores() {
		if s.Kind != declare.KindVariables && s.Kind != declare.KindTranscript {
			grants[s.Name] = "readwrite"
		}
	}
	if a.AutoCollections { // a pattern must begin with a letter, like the name of a collection
		for letter := 'a'; letter <= 'z'; letter++ {
			grants[string(letter)+"*"], grants[string(unicode.ToUpper(letter))+"*"] = "readwrite", "readwrite"
		}
	}
	return map[string]any{"grants": grants}
}

// toolFrom reads a manifest as the manifest of a tool of the app. The grants in the manifest refer
// to stores of the app.
func toolFrom(a *app.App, name string, manifest map[string]any) (app.Tool, error) {
	text, err := app.Export(&app.App{ID: a.ID, SessionIdle: a.SessionIdle, WorkflowIdle: a.WorkflowIdle, Stores: a.Stores, AutoCollections: a.AutoCollections, Facts: a.Facts, Blocks: a.Blocks})
	if err != nil {
		return app.Tool{}, abi.Faultf(abi.InvalidArgument, "%v", err)
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		return app.Tool{}, err
	}
	entry := maps.Clone(manifest)
	entry["source"] = "tool.js"
	document["tools"] = map[string]any{name: entry}
	if text, err = json.Marshal(document); err != nil {
		return app.Tool{}, err
	}
	with, problems := app.Import("app.json", text)
	if with == nil || problems.Err() != nil {
		return app.Tool{}, problemsFault(problems)
	}
	return with.Tools[0], nil
}

// toolNamed returns the name of a declared tool. If name is "", toolNamed returns the name of the
// tool that has all grants.
func (i *instance) toolNamed(name string) (string, error) {
	known := []string{everything}
	for _, t := range i.tools {
		known = append(known, t.Name)
	}
	name = cmp.Or(name, everything)
	if slices.Contains(known, name) {
		return name, nil
	}
	f := abi.Faultf(abi.NotFound, "the tool %q does not exist", shortened(name))
	if near := spell.Name(name, known); near != "" {
		return "", f.WithHint("did you mean %q?", near)
	}
	return "", f.WithHint(`declare the tool in the app file, or declare it with {"do":"tool"}`)
}

type toolRequest struct {
	envelope
	// Tool is the name of the tool.
	Tool string `json:"tool"`
	// Manifest contains keys of a tool.json: grants, inputSchema, outputSchema, env and limits.
	Manifest map[string]any `json:"manifest"`
}

// declareTool adds a tool to the app, or replaces the tool with the same name.
func (i *instance) declareTool(_ context.Context, r toolRequest) (any, error) {
	if r.Tool == "" {
		return nil, abi.Faultf(abi.InvalidArgument, "the tool has no name")
	}
	manifest := r.Manifest
	if manifest == nil {
		manifest = map[string]any{}
	}
	t, err := toolFrom(i.declared.app, r.Tool, manifest)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(i.tools, func(known app.Tool) bool { return known.Name == r.Tool })
	switch {
	case at >= 0:
		i.tools[at] = t
	case len(i.tools) >= maxTools+len(i.declared.app.Tools):
		return nil, abi.Faultf(abi.QuotaExceeded, "all requests together can declare at most %d tools", maxTools).
			WithHint("replace a tool by declaring the same name again")
	default:
		i.tools = append(i.tools, t)
	}
	i.retire()
	return nil, nil
}
