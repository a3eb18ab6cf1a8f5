package python_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

// native is a Python program that runs other programs in CPython. Each program runs in a new
// process. For each program, the constant's code prints one line of JSON, which contains the result
// of the function main. If the program is only a function body, the line contains the result of the
// body.
const native = `
import ast, asyncio, inspect, json, os, sys, traceback
def run(file):
    tree = ast.parse(open(file).read(), "tool.py")
    if not any(getattr(node, "name", None) == "main" for node in tree.body):
        waits = any(isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)) for node in ast.walk(tree))
        module = ast.parse("async def main(): pass" if waits else "def main(): pass")
        module.body[0].body, tree = tree.body, module
    tool = sys.modules["tool"] = type(sys)("tool")
    exec(compile(tree, "tool.py", "exec"), vars(tool))
    value = tool.main()
    return asyncio.run(value) if inspect.isawaitable(value) else value
for file in sys.argv[1:]:
    if os.fork() == 0:
        try:
            answer = json.dumps(run(file), ensure_ascii=False, separators=(",", ":"))
        except Exception:
            answer = json.dumps(traceback.format_exc())
        os.write(1, answer.encode() + b"\n")
        os._exit(0)
    os.wait()
`

// python3 returns the path and the minor version of the installed CPython. Tests that compare
// results with CPython need version 3.11 or later.
func python3(t *testing.T) (file string, minor int) {
	t.Helper()
	const ask = "import sys; print(sys.executable); print(*sys.version_info[:2])"
	text, err := exec.Command("python3", "-I", "-c", ask).Output()
	if err != nil {
		t.Skipf("python3 is not there to compare with: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	major, rest, _ := strings.Cut(lines[len(lines)-1], " ")
	minor, err = strconv.Atoi(rest)
	if err != nil || major != "3" || minor < 11 {
		t.Skipf("python3 is version %s.%s; at least 3.11 is needed to compare with", major, rest)
	}
	return lines[0], minor
}

// requires matches the line with which a program requires a later version of Python. Next to such a
// program, a JSON file contains the expected result for machines that have an older version of
// Python.
var requires = regexp.MustCompile(`(?m)^# Requires Python 3\.(\d+)\.$`)

// The engine and this machine's CPython must return the same results for real programs, byte for
// byte.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/programs/*.py")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d programs, %v; want at least 100", len(files), err)
	}
	e := sharedEngine(t)
	wants, minor := nativeAnswers(t, files)
	for n, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".py"), func(t *testing.T) {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := wants[n]
			if found := requires.FindSubmatch(code); found != nil {
				if needed, _ := strconv.Atoi(string(found[1])); minor < needed {
					want = kept(t, file)
				}
			}
			got := answerOf(t, e, code)
			if !bytes.Equal(got, want) {
				t.Errorf("the engine returns\n%s\nwant the result of python3\n%s", got, want)
			}
		})
	}
}

// kept returns the saved result of a program that needs a later version of Python.
func kept(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(strings.TrimSuffix(file, ".py") + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(text)
}

// nativeAnswers runs programs with the installed CPython and returns their results.
func nativeAnswers(t *testing.T, files []string) (answers [][]byte, minor int) {
	t.Helper()
	python, minor := python3(t)
	var complaint bytes.Buffer
	cmd := exec.CommandContext(t.Context(), python, append([]string{"-I", "-S", "-X", "utf8", "-c", native}, files...)...)
	cmd.Stderr = &complaint
	text, err := cmd.Output()
	answers = bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	if err != nil || len(answers) != len(files) {
		t.Fatalf("python3: %v, with %d results of %d programs\n%s", err, len(answers), len(files), complaint.Bytes())
	}
	return answers, minor
}

// answerOf runs a program as a tool and returns its output.
func answerOf(t *testing.T, e engine.Engine, code []byte) json.RawMessage {
	t.Helper()
	p, err := e.Load(t.Context(), engine.Source{Path: "tool.py", Code: code})
	if err != nil {
		t.Fatalf("Load = %+v", err)
	}
	defer p.Close()
	out, err := p.Run(t.Context(), engine.Input{}, enginetest.NewMemory(nil).Host())
	if err != nil {
		t.Fatalf("Run = %+v", err)
	}
	if string(out.Output) == "null" {
		t.Error("the program returns nothing")
	}
	return out.Output
}

// Some Python functions are not available to tools. TestAbsent checks the replacements of these
// functions.
func TestAbsent(t *testing.T) {
	runAll(t, []tool{
		{name: "processor time", code: "import time\nbegun = time.process_time()\nsum(range(10**5))\nreturn 0 < time.process_time() - begun < 60", want: `true`},
	})
}
