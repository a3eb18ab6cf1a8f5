package baseline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolrun/toolrun/hostile/corpus"
)

// End is the effect of a case on the baseline host.
type End string

// The effects.
const (
	None    End = ""        // the case was not run
	Fine    End = "fine"    // the host was not affected
	Late    End = "late"    // the run ended long after the deadline
	Hung    End = "hung"    // the run did not end
	Died    End = "died"    // the process died
	Corrupt End = "corrupt" // protected data was changed, or the content of a host file was leaked
)

// exitBroken is the exit code for errors that no case causes, such as invalid arguments. exitBroken
// is not 2, because a Go program exits with the code 2 after a panic.
const exitBroken = 3

const (
	shortDeadline = 200 * time.Millisecond
	// pythonDeadline is the deadline of Python cases. pythonDeadline is longer than the deadline of
	// other cases, because an interpreter starts slowly.
	pythonDeadline = 2 * time.Second
	lateness       = 250 * time.Millisecond
	grace          = time.Second
)

// deadlineOf returns the time limit of a run. If a case needs time to prepare its attack, the case
// specifies its own limit.
func deadlineOf(c corpus.Case) time.Duration {
	if c.Python() {
		return pythonDeadline
	}
	if c.Timeout > corpus.LongTimeout {
		return c.Timeout
	}
	return shortDeadline
}

// Patience returns the duration after which the process of a case counts as hung.
func Patience(c corpus.Case) time.Duration { return deadlineOf(c) + grace }

// Kind returns how the host runs a tool: "js", "py", "wasm", "schema" or "yaml".
func Kind(c corpus.Case) string {
	switch {
	case c.App:
		return "yaml"
	case filepath.Ext(c.Tool) == ".wasm":
		return "wasm"
	case c.Python():
		return "py"
	case c.Has("tool.json"):
		return "schema"
	}
	return "js"
}

// Command returns the command that runs a case. The first argument of the command is "baseline".
// The argument "binary" is a program. The program must call Main with all arguments after
// "baseline".
func Command(ctx context.Context, binary string, c corpus.Case, dir, input string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, "baseline", Kind(c), c.Entry(), input, deadlineOf(c).String())
	cmd.Dir = dir
	return cmd
}

// report is the output of a process that survives its case.
type report struct {
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
	// LateMS is the time, in milliseconds, from the deadline to the end of the run.
	LateMS int64 `json:"late_ms"`
	// Intact is true if the protected data is unchanged and a benign tool returns the correct
	// result.
	Intact bool `json:"intact"`
}

// Judge determines the effect of a case from the state, the exit code and the standard output of
// the case's process.
func Judge(hung, killed bool, exit int, stdout []byte) End {
	var t report
	switch {
	case hung:
		return Hung
	case exit == exitBroken:
		return None
	case killed || exit != 0 || json.Unmarshal(stdout, &t) != nil:
		return Died
	case !t.Intact || strings.Contains(t.Output, corpus.Secret):
		return Corrupt
	case t.LateMS > lateness.Milliseconds():
		return Late
	}
	return Fine
}

// Main runs one case in the working directory and returns the exit code. The argument "args"
// contains the kind, the entry file, the input file and the deadline. If no input file exists,
// the third argument is "". Main writes its report to the writer "stdout".
func Main(args []string, stdout, stderr io.Writer) int {
	if err := run(args, stdout); err != nil {
		fmt.Fprintln(stderr, "naive:", err)
		return exitBroken
	}
	return 0
}

func run(args []string, stdout io.Writer) error {
	if len(args) != 4 {
		return fmt.Errorf("got the arguments %q; want a kind, a file, an input and a deadline", args)
	}
	deadline, err := time.ParseDuration(args[3])
	if err != nil {
		return err
	}
	if err := limitMemory(); err != nil {
		return fmt.Errorf("set memory limit: %w", err)
	}
	if args[0] == "py" {
		return python(args[1], args[2])
	}
	runners := map[string]func(*host, string, []byte) ([]byte, error){"js": script, "wasm": module, "schema": document, "yaml": declaration}
	runner := runners[args[0]]
	if runner == nil {
		return fmt.Errorf("unknown kind %q", args[0])
	}
	input := []byte("{}")
	if args[2] != "" {
		if input, err = os.ReadFile(args[2]); err != nil {
			return err
		}
	}
	h := newHost()
	h.deadline = deadline
	began := time.Now()
	output, err := runner(h, args[1], input)
	t := report{Output: string(output), LateMS: (time.Since(began) - deadline).Milliseconds()}
	if err != nil {
		t.Error = err.Error()
	}
	t.Intact = h.intact()
	return json.NewEncoder(stdout).Encode(t)
}
