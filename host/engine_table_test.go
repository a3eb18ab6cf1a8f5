package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// shouting is an engine for a language that toolrun itself does not support. A tool in this
// language returns its own source in upper case.
type shouting struct{}

func (shouting) Info() engine.Info {
	return engine.Info{
		Name:       "shouting",
		Languages:  []engine.Language{{Name: "shout", Title: "Shout", Extensions: []string{".shout"}}},
		Extensions: []string{".shout", ".loud"},
	}
}

func (shouting) Load(_ context.Context, src engine.Source) (engine.Program, error) {
	return shout(src.Code), nil
}

type shout string

func (s shout) Run(context.Context, engine.Input, engine.Host) (engine.Output, error) {
	text, err := json.Marshal(strings.ToUpper(string(s)))
	return engine.Output{Output: text}, err
}

func (shout) Close() error { return nil }

// TestNewLanguage runs tools in a language that toolrun itself does not support. The tools are
// declared in an app file, found in a folder, or ad hoc.
func TestNewLanguage(t *testing.T) {
	options := host.Options{Backend: mem.New(), Engines: []engine.Engine{shouting{}}}
	declared, problems := app.Loader{Extensions: options.Extensions()}.Load(fstest.MapFS{
		"app.yaml":              {Data: []byte("app: square\ntools:\n  file: {source: hello.shout, description: d}\n  folder: {source: tools/crier, description: d}\n")},
		"hello.shout":           {Data: []byte("hello")},
		"tools/crier/main.loud": {Data: []byte("oyez")},
	}, "app.yaml")
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	options.App = declared
	h, err := host.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, c := range []struct {
		invocation host.Invocation
		want       string
	}{
		{host.Invocation{Tool: "file"}, `"HELLO"`},
		{host.Invocation{Tool: "folder"}, `"OYEZ"`},
		{host.Invocation{Tool: "code", Code: &host.AdHocTool{Language: "Shout", Text: "hey"}}, `"HEY"`},
	} {
		result, err := h.Run(t.Context(), c.invocation)
		if err != nil || string(result.Output) != c.want {
			t.Errorf("Run of %s = %s, %v; want %s", c.invocation.Tool, result.Output, err, c.want)
		}
	}
	_, err = h.Run(t.Context(), host.Invocation{Tool: "code", Code: &host.AdHocTool{Language: "javascript", Text: "return 1"}})
	if f, ok := errors.AsType[*abi.Fault](err); !ok || f.Code != abi.InvalidArgument || f.Hint != "the supported languages are: shout" {
		t.Errorf("code of a language without an engine = %v; want a list of the languages", err)
	}
}

// TestUnknownExtension opens a tool whose file extension is unknown. The error must name the
// supported extensions.
func TestUnknownExtension(t *testing.T) {
	loader := app.Loader{Extensions: host.Options{Engines: []engine.Engine{shouting{}}}.Extensions()}
	_, problems := loader.Load(fstest.MapFS{
		"app.yaml": {Data: []byte("app: square\ntools:\n  file: {source: hello.js, description: d}\n")},
		"hello.js": {Data: []byte("return 1")},
	}, "app.yaml")
	if len(problems) != 1 || problems[0].Code != problem.BadSource || !strings.Contains(problems[0].Hint, ".shout, .loud") {
		t.Errorf("problems = %v; want one that names .shout and .loud", problems)
	}
}
