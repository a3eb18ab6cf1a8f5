package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/hostile/corpus"
	"github.com/toolrun/toolrun/internal/cli/exitcode"
)

// lateness is the maximum time by which a run may exceed its deadline.
const lateness = 250 * time.Millisecond

// The following constants are maximum sizes in a Result. Each size is a limit of the host plus the
// size of text that the host adds.
const (
	maxLogLines = 1_001
	maxMessage  = 8 << 10
	maxStdout   = 4 << 20
	maxStderr   = 1 << 20
)

// ToolrunResult is the outcome of a case that toolrun has run.
type ToolrunResult struct {
	// Answer is "ok", the code of a fault, or a description of the end of the process.
	Answer   string        `json:"answer"`
	Duration time.Duration `json:"duration_ns"`
	Late     bool          `json:"late"`
	Peak     int64         `json:"peak_bytes"`
	// Benign is the peak memory of the benign tool, which runs after each case.
	Benign int64 `json:"benign_peak_bytes"`
	Strays int   `json:"strays"`
	// Problems contains all differences between the result and the expected result. Problems is
	// empty if the case passed.
	Problems []string `json:"problems,omitempty"`
}

// answer contains the fields that the runner checks. The fields are from a Result or from an error.
type answer struct {
	OK     bool            `json:"ok"`
	Output json.RawMessage `json:"output"`
	Logs   []abi.LogLine   `json:"logs"`
	Error  *abi.Fault      `json:"error"`
	// Attempts is 0 if the guest has not started.
	Attempts int `json:"attempts"`
}

// runToolrun runs a case with toolrun, and then runs the benign tool.
func (w *env) runToolrun(ctx context.Context, l layout, db string) (*ToolrunResult, error) {
	done, err := w.call(ctx, l, db)
	for tries := 0; err == nil && tries < maxTries && neverBegan(l.Case, done); tries++ {
		l.deadline *= 2
		done, err = w.call(ctx, l, db)
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", l.Name, err)
	}
	v := &ToolrunResult{Duration: done.Duration, Peak: done.Peak, Late: done.Duration > l.deadline+lateness}
	v.Answer, v.Problems = w.check(l.Case, done)
	v.Problems = append(v.Problems, w.leaks(l, done)...)
	v.Strays = w.procs.strays()
	if v.Strays > 0 {
		v.Problems = append(v.Problems, fmt.Sprintf("left %d processes behind", v.Strays))
	}
	after, err := w.benign(ctx, db)
	if v.Benign = after.Peak; err != nil {
		v.Problems = append(v.Problems, err.Error())
	}
	return v, ctx.Err()
}

// call runs toolrun.
func (w *env) call(ctx context.Context, l layout, db string) (exit, error) {
	cmd := exec.CommandContext(ctx, w.binary, l.command(w, db)...)
	cmd.Dir = l.dir
	return w.procs.execute(cmd, l.deadline+w.grace)
}

// check compares the result of a run with the expected result.
func (w *env) check(c corpus.Case, done exit) (word string, problems []string) {
	if done.Killed != ownExit {
		return done.Killed, []string{done.Killed}
	}
	var a answer
	if err := json.Unmarshal(done.stdout, &a); err != nil {
		return "died", []string{fmt.Sprintf("exit code %d: %s", done.Exit, firstLine(done.stderr))}
	}
	word, exit := "ok", exitcode.Done
	if a.Error != nil {
		word, exit = string(a.Error.Code), exitcode.Of(a.Error.Code)
		if len(a.Error.Message) > maxMessage {
			problems = append(problems, fmt.Sprintf("a message of %d bytes", len(a.Error.Message)))
		}
	}
	if !w.allows(c.Want, word, a.Output) {
		got := word + " " + firstLine(a.Output)
		if a.Error != nil {
			got = a.Error.Error()
		}
		problems = append(problems, fmt.Sprintf("returned %.200s; want %s", got, c.Want))
	}
	if neverBegan(c, done) {
		problems = append(problems, "was stopped before it started")
	}
	if usage := a.Error != nil && a.Error.Code == abi.InvalidArgument; done.Exit != exit && !(usage && done.Exit == exitcode.Usage) {
		problems = append(problems, fmt.Sprintf("exit code %d with %s", done.Exit, word))
	}
	if len(a.Logs) > maxLogLines {
		problems = append(problems, fmt.Sprintf("%d log lines", len(a.Logs)))
	}
	return word, problems
}

// allows reports whether a case may have the given result. An internal fault is never allowed.
func (w *env) allows(want corpus.Want, word string, output json.RawMessage) bool {
	if w.anyAnswer {
		return word != string(abi.Internal)
	}
	return want.Allows(word, output)
}

// leaks searches the output of a run for secrets, host paths, stack traces and control characters.
// The result lists the found problems.
func (w *env) leaks(l layout, done exit) (problems []string) {
	all := slices.Concat(done.stdout, done.stderr)
	if len(done.stdout) > maxStdout || len(done.stderr) > maxStderr {
		problems = append(problems, fmt.Sprintf("wrote %d and %d bytes", len(done.stdout), len(done.stderr)))
	}
	if bytes.Contains(all, []byte(corpus.Secret)) {
		problems = append(problems, "leaked the secret")
	}
	if bytes.Contains(all, []byte(w.dir)) && !namesFolder(l.Case) {
		problems = append(problems, "leaked a path of the host")
	}
	if bytes.Contains(all, []byte("goroutine ")) {
		problems = append(problems, "leaked a stack trace of the host")
	}
	if bytes.ContainsFunc(done.stderr, isControl) {
		problems = append(problems, "wrote control characters to the terminal")
	}
	return problems
}

// namesFolder reports whether the files of the case contain the path of the folder "outside". If
// the files of a case contain a path, messages may quote the path.
func namesFolder(c corpus.Case) bool {
	return slices.ContainsFunc(c.Files, func(f corpus.File) bool { return strings.Contains(string(f.Data), "{{outside}}") })
}

func isControl(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }
