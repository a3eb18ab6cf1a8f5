package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/cli/exitcode"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// exitCodes maps every fault code to the expected exit code. Scripts depend on the exit codes, so
// exitCodes repeats the table in package exitcode.
var exitCodes = map[abi.Code]int{
	abi.ToolError: 1, abi.OutputInvalid: 1, abi.NotFound: 1, abi.AccessDenied: 1, abi.ReadOnly: 1,
	abi.SchemaViolation: 1, abi.NoUser: 1, abi.NoSession: 1, abi.SessionEnded: 1, abi.NoWorkflow: 1, abi.WorkflowEnded: 1, abi.NoAgent: 1, abi.InvalidArgument: 1,
	abi.TooLarge: 1, abi.QuotaExceeded: 1,
	abi.SourceInvalid: 2, abi.ABIMismatch: 2, abi.InputInvalid: 2,
	abi.Timeout: 3, abi.MemoryLimit: 3, abi.StackLimit: 3, abi.OutputLimit: 3, abi.LogLimit: 3, abi.CallLimit: 3,
	abi.Cancelled: 3,
	abi.Conflict:  4,
	abi.Internal:  5, abi.Unavailable: 5,
}

func TestExitCodes(t *testing.T) {
	for _, code := range abi.Codes() {
		want, known := exitCodes[code]
		if !known {
			t.Errorf("the code %s has no exit code in this test", code)
			continue
		}
		err := fmt.Errorf("wrapped: %w", errors.Join(abi.Faultf(code, "x"), errors.New("close: y")))
		if got := exitCode(err); got != want {
			t.Errorf("exitCode(%s) = %d; want %d", code, got, want)
		}
		if got := exitCode(&usageError{abi.Faultf(code, "x")}); got != 2 {
			t.Errorf("exitCode(usage error with code %s) = %d; want 2", code, got)
		}
	}
	if len(exitCodes) != len(abi.Codes()) {
		t.Errorf("this test has %d exit codes for %d fault codes", len(exitCodes), len(abi.Codes()))
	}
	others := []struct {
		name string
		err  error
		want int
	}{
		{"done", nil, 0},
		{"a mistaken app file", &appError{"app.yaml", problem.List{{Severity: problem.Error}}}, 2},
		{"a moved store", fmt.Errorf("open: %w", errors.Join(&memory.ScopeChangedError{Store: "a"})), 2},
		{"interrupted", fmt.Errorf("scan: %w", context.Canceled), 3},
		{"anything else", errors.New("disk on fire"), 5},
	}
	for _, test := range others {
		if got := exitCode(test.err); got != test.want {
			t.Errorf("exitCode(%s) = %d; want %d", test.name, got, test.want)
		}
	}
}

func TestProgress(t *testing.T) {
	tests := []struct {
		name     string
		terminal bool
		took     time.Duration
		want     string
	}{
		{"quick", true, 900 * time.Millisecond, ""},
		{"slow", true, 2500 * time.Millisecond, "\r\x1b[Kworking ... 1 s\r\x1b[Kworking ... 2 s\r\x1b[K"},
		{"slow, in a pipe", false, 2500 * time.Millisecond, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var stderr bytes.Buffer
				out := &console{env: Env{Stderr: &stderr, StderrTerminal: test.terminal}.withDefaults()}
				failed := errors.New("failed")
				err := out.progress("working", func() error {
					time.Sleep(test.took)
					return failed
				})
				if err != failed || stderr.String() != test.want {
					t.Errorf("progress = %v and wrote %q; want the error of the work, and %q", err, stderr.String(), test.want)
				}
			})
		})
	}
}

// TestCommandsExplainThemselves checks that every command is visible, has a description and an
// example, and supports JSON. The command that prints the reference is the only hidden command.
func TestCommandsExplainThemselves(t *testing.T) {
	p := &program{baseCommand: newBase(Env{})}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		name := cmd.CommandPath()
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: the short description is %q; want a text without a final period", name, cmd.Short)
		}
		if !strings.Contains(cmd.Example, "  "+name) {
			t.Errorf("%s: no example starts with the command", name)
		}
		if cmd.Hidden || cmd.Deprecated != "" {
			t.Errorf("%s is hidden", name)
		}
		if cmd.Flag("json") == nil && cmd.InheritedFlags().Lookup("json") == nil {
			t.Errorf("%s has no --json", name)
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	for _, cmd := range p.rootCommand().Commands() {
		if cmd.Name() != "docs" {
			walk(cmd)
		}
	}
}

func FuzzPair(f *testing.F) {
	for _, seed := range []string{"a=b", "a:=1", "a:=", "=", ":=1", "a==", "a:=[1,{\"b\":null}]", "a", "\xff=1", "a:b=c", "a:=1e999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, value, err := parsePair(text)
		if err != nil {
			if exitCode(err) != exitcode.Usage {
				t.Errorf("parsePair(%q) = %v; want a usage error", text, err)
			}
			return
		}
		if key == "" || !strings.HasPrefix(text, key) {
			t.Errorf("parsePair(%q) has the key %q; want the text before =", text, key)
		}
		encoded, err := strictjson.Encode(map[string]any{key: value})
		if err != nil {
			t.Fatalf("the pair %q cannot be written as JSON: %v", text, err)
		}
		if _, err := strictjson.Decode(encoded, strictjson.Limits{}); err != nil {
			t.Errorf("the pair %q makes the input %s: %v", text, encoded, err)
		}
	})
}
