package bindgen_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// The following tests generate the bindings for a table with an additional operation. Then the
// tests compile and run the generated bindings.

// runPlugin runs a plug-in. The plug-in must import and call only the added operation.
func runPlugin(t *testing.T, code []byte) {
	t.Helper()
	src := engine.Source{Path: "probe.wasm", Code: code, Operations: withProbe()}
	shown, err := wasm.Describe(src)
	if err != nil {
		t.Fatal(err)
	}
	imported := slices.DeleteFunc(shown.Imports, func(name string) bool { return !strings.HasPrefix(name, "memory.") })
	if !slices.Equal(imported, []string{"memory.probe_content"}) {
		t.Errorf("the plug-in imports %v; want memory.probe_content", imported)
	}
	p, err := wasm.New().Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	memory := enginetest.NewMemory(nil)
	if _, err := p.Run(t.Context(), engine.Input{}, memory.Host()); err != nil {
		t.Fatal(err)
	}
	calls, err := json.Marshal(memory.Calls())
	if err != nil {
		t.Fatal(err)
	}
	if want := `[{"op":"probe_content","args":["prefs",{"a":1},"why",null]}]`; string(calls) != want {
		t.Errorf("calls = %s; want %s", calls, want)
	}
}

const goPlugin = `package main

import toolrun "github.com/toolrun/toolrun/abi/guest/go"

func init() {
	toolrun.Handle(func(struct{}) (reply map[string]any, err error) {
		_, err = toolrun.ProbeContent("prefs", map[string]int{"a": 1}, "why", nil, &reply)
		return reply, err
	})
}

func main() {}
`

// TestGo builds a plug-in for WebAssembly, and builds the binding for native tests.
func TestGo(t *testing.T) {
	dir := t.TempDir()
	abs, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	replaced := map[string]string{}
	add := func(name string, text []byte) {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		write(t, file, text)
		replaced[filepath.Join(abs, name)] = file
	}
	for name, text := range generate(t, withProbe()) {
		if filepath.Ext(name) == ".go" {
			add(name, text)
		}
	}
	add("internal/bindgen/probe/main.go", []byte(goPlugin))
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), overlay)
	build := func(environment ...string) []byte {
		t.Helper()
		output := filepath.Join(dir, "out")
		args := []string{"build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", output}
		if environment != nil {
			args = append(args, "-buildmode=c-shared")
		}
		cmd := exec.Command("go", append(args, "./internal/bindgen/probe")...)
		cmd.Dir, cmd.Env = abs, append(os.Environ(), environment...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
		return read(t, output)
	}
	build()
	runPlugin(t, build("GOOS=wasip1", "GOARCH=wasm"))
}

const cPlugin = `#include "toolrun.h"
TOOLRUN_ENTRY(toolrun_run) {
    toolrun_reply reply = toolrun_probe_content(TOOLRUN_TEXT("prefs"), TOOLRUN_TEXT("{\"a\":1}"), TOOLRUN_TEXT("\"why\""), TOOLRUN_ABSENT);
    return reply.fault ? toolrun_pass(reply) : toolrun_output(reply.json);
}
`

const cTest = `#include "toolrun_stub.h"
int32_t toolrun_run(void);
int main(void) {
    if (toolrun_stub_run(toolrun_run, TOOLRUN_TEXT("{}"), TOOLRUN_TEXT("{}")) == 0) {
        return 1; /* the double cannot know the operation */
    }
    return toolrun_equal(toolrun_string(toolrun_member(toolrun_stub_error(), TOOLRUN_TEXT("code"))), TOOLRUN_TEXT("unavailable")) ? 0 : 2;
}
`

// TestC builds a plug-in and a native test of the plug-in.
func TestC(t *testing.T) {
	dir := binding(t, "abi/guest/c")
	write(t, filepath.Join(dir, "main.c"), []byte(cPlugin))
	write(t, filepath.Join(dir, "test.c"), []byte(cTest))
	compile := func(t *testing.T, compiler string, args ...string) {
		t.Helper()
		run(t, dir, needed(t, compiler), append(args, "-Wall", "-Wextra", "-Werror", "-o", "out", "main.c", "toolrun.c", "toolrun_json.c")...)
	}
	t.Run("plugin", func(t *testing.T) {
		needed(t, "wasm-ld")
		compile(t, "clang", "--target=wasm32", "-Os", "-mbulk-memory", "-ffreestanding", "-nostdlib", "-Wl,--no-entry,--stack-first,--strip-all")
		runPlugin(t, read(t, filepath.Join(dir, "out")))
	})
	t.Run("double", func(t *testing.T) {
		compile(t, "cc", "-std=c99", "-Wpedantic", "-I.", "-Istub", "test.c", "stub/toolrun_stub.c")
		run(t, dir, "./out")
	})
}

const asPlugin = `import { output, probe_content } from "./index";
export { toolrun_abi_1 } from "./index";
export function toolrun_run(): i32 {
  return output(probe_content("prefs", '{"a":1}', '"why"').value);
}
`

// TestAssemblyScript builds a plug-in.
func TestAssemblyScript(t *testing.T) {
	node := needed(t, "node")
	dir := binding(t, "abi/guest/assemblyscript")
	npm(t, dir, "ci")
	write(t, filepath.Join(dir, "main.ts"), []byte(asPlugin))
	run(t, dir, node, "node_modules/assemblyscript/bin/asc.js", "main.ts", "--config", "asconfig.json", "-o", "out.wasm")
	runPlugin(t, read(t, filepath.Join(dir, "out.wasm")))
	run(t, dir, node, "--input-type=module", "-e", asTest)
}

// asTest runs the plug-in with the test double. The test double does not know the added operation.
const asTest = `
import { readFileSync } from 'node:fs';
import { Host } from './host.mjs';
const result = new Host(readFileSync('out.wasm')).run();
if (result.error?.code !== 'unavailable') throw new Error(JSON.stringify(result));
`

const tsTool = `
export async function main() {
  const found = await memory.probe_content<{ n: number }>('prefs', { a: 1 }, 'why', { limit: 1 });
  const yes: true = found.success;
  const n: number | undefined = found.answers[0]?.content.n;
  const text: string | null = await memory.probe_content('prefs', 1, null, { limit: 1, deep: true });
  await memory.probe_content({ store_name: 'prefs', fallback: 1, question: 'why' });
  await memory.set_content({ memory_store_name: 'prefs', data_object: {} });
  // @ts-expect-error: the limit is a number
  await memory.probe_content('prefs', 1, 'why', { limit: '1' });
  // @ts-expect-error: the default is required
  await memory.probe_content('prefs');
  return { yes, n, text };
}
`

// TestTypeScript compiles a tool that uses the types.
func TestTypeScript(t *testing.T) {
	node := needed(t, "node")
	version := regexp.MustCompile(`"typescript": "([0-9.]+)"`).FindSubmatch(read(t, filepath.Join(root, "sdk/js/package.json")))
	if version == nil {
		t.Fatal("package.json does not name a version of typescript")
	}
	dir := t.TempDir()
	sdk := filepath.Join(dir, "node_modules/@toolrun/sdk")
	npm(t, dir, "install", "typescript@"+string(version[1]))
	for _, name := range []string{"package.json", "globals.d.ts"} {
		write(t, filepath.Join(sdk, name), read(t, filepath.Join(root, "sdk/js", name)))
	}
	write(t, filepath.Join(sdk, "index.d.ts"), generate(t, withProbe())["sdk/js/index.d.ts"])
	write(t, filepath.Join(dir, "tool.ts"), []byte(tsTool))
	write(t, filepath.Join(dir, "tsconfig.json"), []byte(`{"compilerOptions": {"strict": true, "noEmit": true, "module": "nodenext",
		"target": "es2023", "lib": ["es2023"], "types": ["@toolrun/sdk"]}, "include": ["tool.ts"]}`))
	run(t, dir, node, "node_modules/typescript/bin/tsc", "-p", ".")
}

// pyCheck is a Python script that runs the type stub as a module and inspects the functions.
// Running the stub resolves every name in the stub.
const pyCheck = `
import inspect, sys, typing
sys.path.insert(0, sys.argv[1])
scope = {"__name__": "memory"}
overloads = []
typing.overload = lambda function: overloads.append(function) or function
exec(compile(open(sys.argv[2]).read(), "memory.pyi", "exec"), scope)
ways = [str(inspect.signature(f)) for f in overloads if f.__name__ == "probe_content"]
assert len(ways) == 4, ways
assert list(inspect.signature([f for f in overloads if f.__name__ == "probe_content"][0]).parameters) == ["store", "default", "question", "options"], ways
assert typing.get_type_hints(scope["ProbeOptions"]) == {"limit": int, "deep": bool}
assert scope["ProbeOptions"].__optional_keys__ == {"deep"}, scope["ProbeOptions"].__optional_keys__
assert "ends no comment" in overloads[-4].__doc__
`

// TestPython runs the Python type stub as a module.
func TestPython(t *testing.T) {
	python := needed(t, "python3")
	file := filepath.Join(t.TempDir(), "memory.pyi")
	write(t, file, generate(t, withProbe())["sdk/python-wasm/toolrun/memory.pyi"])
	library, err := filepath.Abs(filepath.Join(root, "sdk/python-wasm"))
	if err != nil {
		t.Fatal(err)
	}
	run(t, t.TempDir(), python, "-B", "-c", pyCheck, library, file)
}

// binding copies the folder of a binding and replaces the generated files in the copy.
func binding(t *testing.T, folder string) string {
	t.Helper()
	dir, source := t.TempDir(), os.DirFS(filepath.Join(root, folder))
	err := fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && name != "node_modules" {
			return err
		}
		if entry.IsDir() {
			return fs.SkipDir
		}
		text, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		write(t, filepath.Join(dir, name), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	generated := generate(t, withProbe())
	for _, name := range slices.Sorted(maps.Keys(generated)) {
		if rest, ok := strings.CutPrefix(name, folder+"/"); ok {
			write(t, filepath.Join(dir, rest), generated[name])
		}
	}
	return dir
}

// unreachable contains the error codes that npm reports if its registry is unreachable.
var unreachable = regexp.MustCompile(`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH`)

func npm(t *testing.T, dir string, args ...string) {
	t.Helper()
	if os.Getenv("TOOLRUN_OFFLINE") != "" {
		t.Skip("TOOLRUN_OFFLINE is set, and npm downloads the compiler")
	}
	cmd := exec.Command(needed(t, "npm"), append(args, "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline",
		"--fetch-retries=1", "--fetch-retry-mintimeout=1000")...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if code := unreachable.Find(out); err != nil && code != nil {
		t.Skip("npm cannot reach its registry: " + string(code))
	}
	if err != nil {
		t.Fatalf("npm %v: %v\n%s", args, err, out)
	}
}

func run(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(program), err, bytes.TrimSpace(out))
	}
}

func needed(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip(program + " is not installed")
	}
	return path
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
