package host_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model/modeltest"
)

// For each binding, TestPluginsAskModels runs a plug-in that asks a model. The test uses the
// committed AssemblyScript plug-in. The tests of the AssemblyScript binding rebuild this plug-in.
func TestPluginsAskModels(t *testing.T) {
	for name, build := range map[string]func(*testing.T) []byte{
		"Go": buildGoPlugin, "C": buildCPlugin,
		"AssemblyScript": func(t *testing.T) []byte { return readPlugin(t, "testdata/chat_as/tool.wasm") },
	} {
		t.Run(name, func(t *testing.T) {
			server := modeltest.Start()
			defer server.Close()
			files := fstest.MapFS{
				"app.yaml":  {Data: []byte("app: chat\ntools:\n  tool: {source: tool.wasm, description: asks a model, models: [local]}\n")},
				"tool.wasm": {Data: build(t)},
			}
			h := openApp(t, files, func(o *host.Options) { o.Models = modelSet(t, server, "") })
			if result, err := run(h, host.Invocation{}); err != nil || string(result.Output) != `"re: hello"` || result.Usage.Model.Calls != 1 {
				t.Errorf("Run = %s, %v, %+v; want the answer of the model", result.Output, err, result.Usage)
			}
			server.Script(modeltest.Reply{Status: 400})
			if _, err := run(h, host.Invocation{}); !errors.Is(err, abi.InvalidArgument) && !errors.Is(err, abi.Unavailable) {
				t.Errorf("Run = %v; want the fault of the model", err)
			}
		})
	}
}

func readPlugin(t *testing.T, file string) []byte {
	t.Helper()
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// buildGoPlugin builds the Go plug-in with the same command that authors of plug-ins use.
func buildGoPlugin(t *testing.T) []byte {
	t.Helper()
	return builtBy(t, "go", []string{"GOOS=wasip1", "GOARCH=wasm"}, "build -buildmode=c-shared -trimpath -ldflags=-s -o OUT ./testdata/chat_go")
}

// buildCPlugin builds the plug-in in C. If this machine has no clang or no linker for WebAssembly,
// the test is skipped.
func buildCPlugin(t *testing.T) []byte {
	t.Helper()
	for _, name := range []string{"clang", "wasm-ld"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	const binding = "../abi/guest/c"
	return builtBy(t, "clang", nil, "--target=wasm32 -Os -mbulk-memory -ffreestanding -nostdlib -Wl,--no-entry,--stack-first,--strip-all -I"+binding+
		" -o OUT testdata/chat_c/main.c "+binding+"/toolrun.c "+binding+"/toolrun_json.c")
}

// builtBy runs a compiler and returns the content of its output file. In the arguments, the word
// OUT stands for the path of the output file.
func builtBy(t *testing.T, compiler string, env []string, args string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tool.wasm")
	words := strings.Fields(args)
	for i, word := range words {
		if word == "OUT" {
			words[i] = file
		}
	}
	cmd := exec.CommandContext(t.Context(), compiler, words...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	return readPlugin(t, file)
}
