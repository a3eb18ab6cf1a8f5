package host_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model/modeltest"
)

// TestPythonToolAsksModel checks that a Python tool can send a request to a model. If the tool has
// its own module "model", importing "model" must return this module.
func TestPythonToolAsksModel(t *testing.T) {
	python := withPython(t)
	server := modeltest.Start()
	defer server.Close()
	for source, c := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"tool.py": {fstest.MapFS{"tool.py": {Data: []byte(`
answer = model.chat("local", {"messages": [{"role": "user", "content": "hello"}]})
try:
    model.chat("other", {"messages": []})
except AccessDeniedError as error:
    return [answer["text"], error.op]
`)}}, `["re: hello","model_chat"]`},
		"own": {fstest.MapFS{
			"own/main.py":  {Data: []byte("import model\ndef main(input):\n    return model.answer\n")},
			"own/model.py": {Data: []byte("answer = 42\n")},
		}, "42"},
	} {
		t.Run(source, func(t *testing.T) {
			c.files["app.yaml"] = &fstest.MapFile{Data: []byte(strings.NewReplacer("LIMITS", "", "tool.js", source).Replace(modelApp))}
			h := openApp(t, c.files, python, func(o *host.Options) { o.Models = modelSet(t, server, "") })
			result, err := run(h, host.Invocation{})
			if err != nil || string(result.Output) != c.want {
				t.Errorf("Run = %s, %v; want %s", result.Output, err, c.want)
			}
		})
	}
}
