package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

func TestMain(m *testing.M) {
	testscript.Main(testMain{m}, map[string]func(){"toolrun": main})
}

// testMain is a testing.M. After the tests, it removes the program that buildToolrun has built.
type testMain struct{ *testing.M }

// Run runs the tests. If the process is started as the command toolrun, Run is not called.
func (m testMain) Run() int {
	dir, err := os.MkdirTemp("", "toolrun-built-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	builtDir = dir
	return m.M.Run()
}

// TestCommandScripts runs scripts. Each script consists of short commands, and some scripts also
// start a service. Each command is a separate process. With the race detector, a process takes
// three times as long to start. Therefore "make test" runs these scripts without the race detector.
func TestCommandScripts(t *testing.T) { runScripts(t, "testdata/script") }

// TestServiceScripts runs scripts. In each script, a command handles many requests.
func TestServiceScripts(t *testing.T) { runScripts(t, "testdata/service") }

// runScripts runs scripts that use the command toolrun like a user. If a line of a script begins
// with "toolrun", the command must succeed. If a line begins with "exits N", the command must exit
// with code N.
func runScripts(t *testing.T, dir string) {
	testscript.Run(t, testscript.Params{
		Dir:                dir,
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each command would sleep for a second before it exits
			env.Values[servedKey{}] = &served{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"hold":      hold,
			"truncate":  truncate,
			"damage":    damage,
			"mode":      mode,
			"fill":      fill,
			"plugin":    plugin,
			"serve":     serve,
			"unserve":   unserve,
			"reload":    reload,
			"logged":    logged,
			"runid":     runID,
			"token":     token,
			"documents": documents,
		},
	})
}

// plugin writes a plug-in that returns its input. If the second argument is "traps", the plug-in
// traps instead. Usage: plugin FILE [traps].
func plugin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: plugin file [traps]")
	}
	m := &wasmtest.Module{Pages: 1}
	read, write := m.Import("toolrun.input_read", 3), m.Import("toolrun.output_write", 2)
	m.Func("toolrun_abi_1", 0)
	code := append(wasmtest.Const(1024), wasmtest.Call(read, 1024, 0, 4096)...) // the address and the length of the input
	code = append(code, wasmtest.Call(write)...)
	if len(args) > 1 {
		code = []byte{wasmtest.Unreachable}
	}
	m.Func("toolrun_run", 1, code...)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), m.Bytes(), 0o600))
}

// runID reads the output of the last command, and stores the first run id of this output in a
// variable. Usage: runid NAME stdout|stderr.
func runID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: runid name stdout|stderr")
	}
	id := regexp.MustCompile(`run_[0-9A-Z]{26}`).FindString(ts.ReadFile(args[1]))
	if id == "" {
		ts.Fatalf("%s contains no id of a run", args[1])
	}
	ts.Setenv(args[0], id)
}

// token reads the standard error of the last command, and stores the first approval token of this
// text in a variable. Usage: token NAME.
func token(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: token name")
	}
	found := regexp.MustCompile(`approval_[0-9A-Z]{26}`).FindString(ts.ReadFile("stderr"))
	if found == "" {
		ts.Fatalf("the standard error contains no token")
	}
	ts.Setenv(args[0], found)
}

// exits runs toolrun and checks its exit code. Usage: exits CODE ARGUMENT...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code arguments...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec("toolrun", args[1:]...); err != nil {
		failed, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("run toolrun: %v", err)
		}
		got = failed.ExitCode()
	}
	if got != want {
		ts.Fatalf("toolrun ended in exit code %d; want %d", got, want)
	}
}

// hold opens a database and keeps it open until the script ends, as if another process were using
// the database.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold file")
	}
	b, err := bolt.Open(ts.MkAbs(args[0]), nil)
	ts.Check(err)
	ts.Defer(func() { b.Close() })
}

// truncate shortens a file to the given number of bytes.
func truncate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truncate file bytes")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

// damage replaces the only occurrence of a text in a file.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || len(args[1]) != len(args[2]) {
		ts.Fatalf("usage: damage file old new, of one length")
	}
	name := ts.MkAbs(args[0])
	content := ts.ReadFile(name)
	if !strings.Contains(content, args[1]) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(name, []byte(strings.ReplaceAll(content, args[1], args[2])), 0o600))
}

// mode checks the permissions of a file.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode permissions file")
	}
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); runtime.GOOS != "windows" && got != args[0] {
		ts.Fatalf("%s has the permissions %s; want %s", args[1], got, args[0])
	}
}

// fill writes a file. The file contains a JSON object, which contains a long text.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fill file characters")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := `{"text":"` + strings.Repeat("x", n) + `"}`
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// TestInterrupt sends the signal of Ctrl-C to the process during a long run.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send itself this signal here")
	}
	dir := t.TempDir()
	tool := filepath.Join(dir, "endless.js")
	if err := os.WriteFile(tool, []byte(`console.log("begun"); for (;;) {}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("toolrun", "run", tool, "--timeout", "180s")
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var output []string
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if output = append(output, lines.Text()); len(output) == 1 {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = cmd.Wait()
	if cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("an interrupted run ended with %v; want exit code 3", err)
	}
	if text := strings.Join(output, "\n"); !strings.Contains(text, "begun") || !strings.Contains(text, "error: cancelled") {
		t.Errorf("an interrupted run wrote %q; want its log and that it was cancelled", text)
	}
}
