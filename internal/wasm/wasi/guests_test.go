package wasi_test

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// goGuest is embedded so that changing it invalidates cached test results.
//
//go:embed testdata/goguest/main.go
var goGuest []byte

// clock is a simulated clock that advances only in sleep.
type clock struct{ ns int64 }

func (c *clock) walltime() time.Time { return time.Unix(1700000000, c.ns) }
func (c *clock) nanotime() int64     { return c.ns }
func (c *clock) sleep(_ context.Context, d time.Duration) error {
	c.ns += int64(d)
	return nil
}

// constant is an endless source of one byte value.
type constant byte

func (c constant) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

// run runs a program. The function returns the lines that the program prints, and the outcome:
// "exit" with the code, "return" or "trap".
func run(t *testing.T, code []byte, args []string, environ ...string) []string {
	t.Helper()
	ctx := context.Background()
	// The test uses the interpreter, because compiling these large programs takes seconds under the
	// race detector.
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer func() { _ = r.Close(ctx) }()
	if err := wasi.Instantiate(ctx, r); err != nil {
		t.Fatal(err)
	}
	now := &clock{ns: 1}
	var got recorder
	s, err := wasi.New(wasi.Config{
		Args: args, Environ: environ, Log: got.log, Random: constant(0x5a),
		Walltime: now.walltime, Nanotime: now.nanotime, Sleep: now.sleep,
	})
	if err != nil {
		t.Fatal(err)
	}
	mod, err := r.InstantiateWithConfig(ctx, code, wazero.NewModuleConfig().WithStartFunctions())
	if err != nil {
		t.Fatal(err)
	}
	_, err = mod.ExportedFunction("_start").Call(wasi.With(ctx, s))
	if err := s.Flush(); err != nil {
		t.Error(err)
	}
	if exit, ok := errors.AsType[*sys.ExitError](err); ok {
		return append(got, fmt.Sprintf("exit %d", exit.ExitCode()))
	}
	if err != nil {
		return append(got, "trap")
	}
	return append(got, "return")
}

func TestGoGuest(t *testing.T) {
	compiler, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not available")
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "main.wasm")
	if err := os.WriteFile(source, goGuest, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(compiler, "build", "-ldflags=-s -w", "-o", program, source)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	code, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, code, []string{"tool", "-v"}, "REGION=eu", "LANG=C")
	want := []string{
		`1:args ["tool" "-v"]`,
		`1:environ ["REGION=eu" "LANG=C"], REGION "eu"`,
		`1:time 2023-11-14T22:13:20.000000001Z`,
		`1:slept 1h30m0s`,
		`1:woken`,
		`1:random 5a5a5a5a <nil>`,
		`1:read "" EOF`,
		`1:seek seek /dev/stdout: Illegal seek`,
		`1:stat Dcrw------- <nil>`,
		`1:open x.txt: Bad file number true`,
		`1:open /etc/passwd: Bad file number`,
		`1:open .: Bad file number`,
		`1:open x.txt: Bad file number`,
		`1:mkdir x: Bad file number`,
		`1:remove x: Bad file number`,
		`1:stat x: Bad file number`,
		`1:file file+net socket: Bad file number`,
		`2:to stderr, then write /dev/stdout: file already closed`,
		`exit 7`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("printed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestToolchains runs wazero's WASI test programs, which were compiled with several toolchains: C
// (wasi-libc with zig cc), Rust, TinyGo and Zig. The programs are in wazero's sources.
func TestToolchains(t *testing.T) {
	compiler, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not available")
	}
	dir, err := exec.Command(compiler, "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil || len(strings.TrimSpace(string(dir))) == 0 {
		t.Skip("the source of github.com/tetratelabs/wazero is not available")
	}
	root := filepath.Join(strings.TrimSpace(string(dir)), "imports", "wasi_snapshot_preview1")
	terminals := []string{"1:stdin isatty: true", "1:stdout isatty: true", "1:stderr isatty: true", "1:/ isatty: false"}
	for _, tt := range []struct {
		program string
		args    string
		want    []string // output lines and outcome
	}{
		{"testdata/zig-cc/wasi.wasm", "stat", append(terminals, "return")},
		{"testdata/zig-cc/wasi.wasm", "ls .", []string{"1:No such file or directory", "return"}},
		{"testdata/zig-cc/wasi.wasm", "poll", []string{"1:STDIN", "return"}},
		{"testdata/zig-cc/wasi.wasm", "poll 5 500", []string{"1:STDIN", "return"}},
		{"testdata/zig-cc/wasi.wasm", "sleepmillis 100", []string{"1:OK", "return"}},
		{"testdata/zig-cc/wasi.wasm", "open-rdonly", []string{"2:ERR: open: No such file or directory", "return"}},
		{"testdata/zig-cc/wasi.wasm", "open-wronly", []string{"2:ERR: open: No such file or directory", "return"}},
		{"testdata/zig-cc/wasi.wasm", "sock", []string{"2:ERR: accept: Bad file descriptor", "return"}},
		{"testdata/zig-cc/wasi.wasm", "other", []string{"2:unknown command: other", "exit 1"}},
		{"testdata/cargo-wasi/wasi.wasm", "stat", append(terminals, "return")},
		{"testdata/cargo-wasi/wasi.wasm", "ls .", []string{
			`2:failed to read directory: failed to find a pre-opened file descriptor through which "." could be opened`, "return"}},
		{"testdata/cargo-wasi/wasi.wasm", "other", []string{"2:unknown command: other", "exit 1"}},
		// TinyGo's program panics if it cannot open a file. The program then prints a line and
		// traps.
		{"testdata/tinygo/wasi.wasm", "stat", append(terminals[:3:3], "1:panic: fstat : errno 8", "trap")},
		{"testdata/tinygo/wasi.wasm", "ls .", []string{"1:panic: open .: file does not exist", "trap"}},
		{"testdata/zig/wasi.wasm", "stat", append(terminals, "exit 0")},
		// Zig opens files relative to descriptor 3 and does not expect the error for a missing
		// descriptor.
		{"testdata/zig/wasi.wasm", "ls .", []string{"1:./error.Unexpected", "exit 0"}},
		{"testdata/zig/wasi.wasm", "preopen", []string{"1:0: stdin", "1:1: stdout", "1:2: stderr", "exit 0"}},
		{"testdata/print_args.wasm", "a b", []string{"1:wasi\x00a\x00b\x00", "return"}},
		{"testdata/exit_on_start.wasm", "", []string{"exit 2"}}, // the call is skipped, because the guest has no memory
		{"example/testdata/cargo-wasi/cat.wasm", "test.txt", []string{"2:error opening: test.txt: No such file or directory", "exit 1"}},
		{"example/testdata/tinygo/cat.wasm", "test.txt", []string{"exit 1"}},
		{"example/testdata/zig-cc/cat.wasm", "test.txt", []string{"2:error opening test.txt: -1", "exit 1"}},
		{"example/testdata/zig/cat.wasm", "test.txt", []string{"2:error: Unexpected", "exit 1"}},
	} {
		t.Run(tt.program+" "+tt.args, func(t *testing.T) {
			code, err := os.ReadFile(filepath.Join(root, tt.program))
			if err != nil {
				t.Skipf("%s is not in the source of wazero", tt.program)
			}
			if got := run(t, code, append([]string{"wasi"}, strings.Fields(tt.args)...)); !slices.Equal(got, tt.want) {
				t.Errorf("printed %q; want %q", got, tt.want)
			}
		})
	}
}
