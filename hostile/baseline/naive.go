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

// End is what a case did to the naive host.
type End string

// The ends.
const (
	None    End = ""        // it was not run
	Fine    End = "fine"    // the host is as it was
	Late    End = "late"    // it came back, but long after the deadline
	Hung    End = "hung"    // it did not come back
	Died    End = "died"    // its process ended
	Corrupt End = "corrupt" // what another run must find unchanged is changed, or a file of the host's was told
)

// exitBroken is the exit code where the process was not told rightly what to do, which is no case's doing. Go's own for
// a panic is 2.
const exitBroken = 3

const (
	shortDeadline = 200 * time.Millisecond
	// pythonDeadline is longer: tools in Python were given more to do, since an interpreter takes long to start with.
	pythonDeadline = 2 * time.Second
	lateness       = 250 * time.Millisecond
	grace          = time.Second
)

// deadlineOf is when the host ends a run. A case that takes a while to build up what it attacks with has its own.
func deadlineOf(c corpus.Case) time.Duration {
	if c.Python() {
		return pythonDeadline
	}
	if c.Timeout > corpus.LongTimeout {
		return c.Timeout
	}
	return shortDeadline
}

// Patience is how long the process may take before it counts as hung.
func Patience(c corpus.Case) time.Duration { return deadlineOf(c) + grace }

// Kind says how the host runs the tool in a folder: "js", "py", "wasm", "schema" or "yaml"; "" where it knows no way.
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

// Command is the process that runs a case; binary is a program that hands its arguments after the first, which is
// "naive", to Main.
func Command(ctx context.Context, binary string, c corpus.Case, dir, input string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, "naive", Kind(c), c.Entry(), input, deadlineOf(c).String())
	cmd.Dir = dir
	return cmd
}

// told is what the process says of itself, if it lives to do so.
type told struct {
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
	// LateMS is how long after the deadline it ended.
	LateMS int64 `json:"late_ms"`
	// Intact is set where what the case could not change is unchanged, and a benign tool gives the right answer.
	Intact bool `json:"intact"`
}

// Judge says what the case did: exit is the exit code of its process, killed why it was killed if it was, and stdout
// what it wrote.
func Judge(hung, killed bool, exit int, stdout []byte) End {
	var t told
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

// Main runs one case, in the working directory: its kind, its entry file, the file with its input, "" for none, and the
// deadline. It tells on stdout what came of it and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	if err := run(args, stdout); err != nil {
		fmt.Fprintln(stderr, "naive:", err)
		return exitBroken
	}
	return 0
}

func run(args []string, stdout io.Writer) error {
	if len(args) != 4 {
		return fmt.Errorf("it takes a kind, a file, an input and a deadline, not %q", args)
	}
	deadline, err := time.ParseDuration(args[3])
	if err != nil {
		return err
	}
	if err := limitMemory(); err != nil {
		return fmt.Errorf("limit the memory: %w", err)
	}
	if args[0] == "py" {
		return python(args[1], args[2])
	}
	ways := map[string]func(*host, string, []byte) ([]byte, error){"js": script, "wasm": module, "schema": document, "yaml": declaration}
	way := ways[args[0]]
	if way == nil {
		return fmt.Errorf("no way to run %q", args[0])
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
	output, err := way(h, args[1], input)
	t := told{Output: string(output), LateMS: (time.Since(began) - deadline).Milliseconds()}
	if err != nil {
		t.Error = err.Error()
	}
	t.Intact = h.intact()
	return json.NewEncoder(stdout).Encode(t)
}
