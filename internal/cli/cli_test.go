package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/internal/cli"
)

// folder creates a folder with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// call runs a command and returns the exit code and the output.
func call(t *testing.T, env cli.Env) (exit int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	env.Stdout, env.Stderr = &out, &errs
	exit = cli.Main(t.Context(), env)
	return exit, out.String(), errs.String()
}

// TestMain runs the code of a worker if this process is a worker, because the tests start this
// program as worker processes.
func TestMain(m *testing.M) {
	engines.Main()
	os.Exit(m.Run())
}

func TestZeroEnv(t *testing.T) {
	if exit := cli.Main(t.Context(), cli.Env{}); exit != 0 {
		t.Errorf("Main with the zero Env = %d; want 0, because toolrun without a command shows its help", exit)
	}
}

// The checks of the conform command kill worker processes. Killed workers must not cause output.
func TestConformIsQuiet(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join(root, "plugins", "examples", "feature_flags_c"))
	if err != nil {
		t.Fatal(err)
	}
	exit, stdout, stderr := call(t, cli.Env{Args: []string{"conform", "tool.wasm"}, Dir: dir}) // the plug-in calls the memory API
	if exit != 0 || stderr != "" || !strings.Contains(stdout, "checks pass") {
		t.Errorf("conform = %d, %s\nstderr: %s", exit, stdout, stderr)
	}
}

// cancelling is a stream that cancels a context when something is written for the first time.
type cancelling struct {
	bytes.Buffer
	cancel context.CancelFunc
}

func (c *cancelling) Write(p []byte) (int, error) {
	c.cancel()
	return c.Buffer.Write(p)
}

func TestCancelledRunStoresNothing(t *testing.T) {
	dir := folder(t, map[string]string{
		"app.yaml": "app: shop\nmemory:\n  feeds: {access: application}\ntools:\n  put: {source: put.js, grants: {feeds: readwrite}}\n",
		"put.js":   `await memory.set_content("feeds", {n: 1}); console.log("stored"); for (;;) {}`,
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr := &cancelling{cancel: cancel}
	exit := cli.Main(ctx, cli.Env{Args: []string{"run", "put", "--timeout", "180s"}, Dir: dir, Stderr: stderr})
	if exit != 3 || !strings.Contains(stderr.String(), "error: cancelled: ") {
		t.Errorf("a cancelled run ended in %d and wrote %q; want 3 and that it was cancelled", exit, stderr.String())
	}
	_, stdout, _ := call(t, cli.Env{Args: []string{"memory", "get", "feeds"}, Dir: dir})
	if stdout != "null\n" {
		t.Errorf("after a cancelled run the store holds %q; want null", stdout)
	}
}

// waiting is a stdin that never ends. Like Ctrl-C, the first read from the stdin cancels the
// context.
type waiting struct{ cancel context.CancelFunc }

func (w waiting) Read([]byte) (int, error) {
	w.cancel()
	select {}
}

func TestWaitingForStdinIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stderr bytes.Buffer
	exit := cli.Main(ctx, cli.Env{Args: []string{"render", "-"}, Dir: t.TempDir(), Stdin: waiting{cancel}, Stderr: &stderr})
	if exit != 3 || !strings.Contains(stderr.String(), "error: cancelled: the command was interrupted") {
		t.Errorf("a command that waits for stdin ended in %d and wrote %q; want 3", exit, stderr.String())
	}
}

func TestColor(t *testing.T) {
	const red = "\x1b[1;31m"
	tests := []struct {
		name     string
		terminal bool
		vars     map[string]string
		want     bool
	}{
		{"a pipe", false, nil, false},
		{"a terminal", true, nil, true},
		{"NO_COLOR", true, map[string]string{"NO_COLOR": "1"}, false},
		{"an empty NO_COLOR", true, map[string]string{"NO_COLOR": ""}, true},
		{"a dumb terminal", true, map[string]string{"TERM": "dumb"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, stderr := call(t, cli.Env{
				Args: []string{"nothing"}, StderrTerminal: test.terminal, Getenv: func(name string) string { return test.vars[name] },
			})
			if got := strings.HasPrefix(stderr, red+"error: "); got != test.want {
				t.Errorf("the error begins %q; coloured: %t, want %t", stderr, got, test.want)
			}
			if !strings.Contains(stderr, `unknown command "toolrun nothing"`) {
				t.Errorf("the error is %q; want the plain text", stderr)
			}
		})
	}
}

// JSON output is indented on a terminal. If the output is not a terminal, JSON is on one line.
func TestTerminalOutput(t *testing.T) {
	dir := folder(t, map[string]string{"tool.js": `return {a: [1], b: "\u009b31m"};`})
	env := cli.Env{Args: []string{"run", "./tool.js"}, Dir: dir}
	if _, stdout, _ := call(t, env); stdout != "{\"a\":[1],\"b\":\"\u009b31m\"}\n" {
		t.Errorf("the output without a terminal is %q; want the unchanged output on one line", stdout)
	}
	env.StdoutTerminal = true
	if _, stdout, _ := call(t, env); stdout != "{\n  \"a\": [\n    1\n  ],\n  \"b\": \"\ufffd31m\"\n}\n" {
		t.Errorf("the output for a terminal is %q; want indentation and no control characters", stdout)
	}
}

func TestRenderedTextCannotSteerATerminal(t *testing.T) {
	env := cli.Env{Args: []string{"render", "-"}, Dir: t.TempDir(), StdoutTerminal: true, Stdin: strings.NewReader("a\x1b[2Jb\tc\nd")}
	if _, stdout, _ := call(t, env); stdout != "a\ufffd[2Jb\tc\nd\n" {
		t.Errorf("the rendered text is %q; want replaced control characters", stdout)
	}
	env.StdoutTerminal, env.Stdin = false, strings.NewReader("a\x1bb")
	if _, stdout, _ := call(t, env); stdout != "a\x1bb\n" {
		t.Errorf("the rendered text is %q; want the unchanged text without a terminal", stdout)
	}
}

func TestPanicIsInternal(t *testing.T) {
	panicked := false
	exit, _, stderr := call(t, cli.Env{
		Args: []string{"nothing"}, StderrTerminal: true,
		Getenv: func(string) string {
			if !panicked {
				panicked = true
				panic("for the test")
			}
			return ""
		},
	})
	if exit != 5 || !strings.Contains(stderr, "internal: toolrun panicked") {
		t.Errorf("a panic ended in %d and wrote %q; want 5 and an internal error", exit, stderr)
	}
}

func TestEmptyFlagsAreRefused(t *testing.T) {
	dir := folder(t, map[string]string{"app.yaml": "app: shop\nmemory:\n  feeds: {access: application}\n"})
	for _, flag := range []string{"--user", "--tenant", "--session", "--app", "--db"} {
		exit, _, stderr := call(t, cli.Env{Args: []string{"memory", "list", "feeds", flag, ""}, Dir: dir})
		if exit != 2 || !strings.Contains(stderr, flag+" is empty") {
			t.Errorf("an empty %s ended in %d and wrote %q; want 2", flag, exit, stderr)
		}
	}
}

// TestRunFreesWhatHasEnded checks that a run removes records that expired after earlier commands
// ended.
func TestRunFreesWhatHasEnded(t *testing.T) {
	dir := folder(t, map[string]string{
		"app.yaml": `
app: shop
memory:
  feeds: {access: application, retention: 10s}
tools:
  put: {source: put.js, grants: {feeds: readwrite}}
  idle: {source: idle.js}
`,
		"put.js":  `await memory.set_content("feeds", {n: 1});`,
		"idle.js": `return 1;`,
	})
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	count := func() (records int) {
		_, stdout, stderr := call(t, cli.Env{Args: []string{"db", "check", "--json"}, Dir: dir})
		var report struct{ Records int }
		if err := json.Unmarshal([]byte(stdout), &report); err != nil {
			t.Fatalf("db check wrote %q and %q: %v", stdout, stderr, err)
		}
		return report.Records
	}
	run := func(args ...string) {
		env := cli.Env{Args: append([]string{"run"}, args...), Dir: dir, Now: func() time.Time { return now }}
		if exit, _, stderr := call(t, env); exit != 0 {
			t.Fatalf("run %s ended in %d: %s", args, exit, stderr)
		}
	}
	run("put")
	before := count()
	run("idle")
	if after := count(); after != before+1 {
		t.Errorf("after a run with a record that has not expired there are %d records, before %d; want one more, the ledger entry", after, before)
	}
	now = now.Add(2 * time.Hour)
	run("idle", "--dry-run")
	if after := count(); after != before+2 {
		t.Errorf("after a dry run with an expired record there are %d records, before %d; want only its ledger entry more", after, before+1)
	}
	run("idle")
	if after := count(); after != before+2 {
		t.Errorf("after a run with an expired record there are %d records, before %d; want the expired one replaced by the ledger entry", after, before+2)
	}
	now = now.Add(31 * 24 * time.Hour)
	run("idle")
	if after := count(); after != before-1 {
		t.Errorf("a run a month later left %d records, before %d; want its ledger entry and the app's declarations", after, before+2)
	}
}

// Even before an expired record is removed, the record counts as missing. If all records of an
// undeclared store have expired, the store must therefore not be reported as orphaned.
func TestCheckCountsLivingRecords(t *testing.T) {
	dir := folder(t, map[string]string{
		"was.yaml": "app: shop\nmemory:\n  feeds: {access: application, retention: 10s}\n  notes: {access: application}\n",
		"now.yaml": "app: shop\nmemory:\n  notes: {access: application}\n",
	})
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	do := func(args ...string) string {
		env := cli.Env{Args: append(args, "--db", "memory.db"), Dir: dir, Now: func() time.Time { return now }}
		exit, stdout, stderr := call(t, env)
		if exit != 0 {
			t.Fatalf("%v ended in %d: %s", args, exit, stderr)
		}
		return stdout
	}
	do("memory", "set", "feeds", "{}", "--app", "was.yaml")
	if got := do("check", "now.yaml", "--json"); !strings.Contains(got, `"code":"orphan"`) {
		t.Errorf("check = %s; want a warning about the store that is no longer declared", got)
	}
	now = now.Add(time.Minute)
	if got := do("check", "now.yaml", "--json"); got != "[]\n" {
		t.Errorf("check after the record has expired = %s; want nothing", got)
	}
}
