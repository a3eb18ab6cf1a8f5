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

// lateness is how long after its deadline a run may end.
const lateness = 250 * time.Millisecond

// What a Result may hold, whatever the guest did: the host's own limits, with room for what it adds.
const (
	mostLogLines = 1_001
	mostMessage  = 8 << 10
	mostStdout   = 4 << 20
	mostStderr   = 1 << 20
)

// Walled is what toolrun made of a case.
type Walled struct {
	// Answer is "ok", a fault's code, or how the process died.
	Answer string        `json:"answer"`
	Took   time.Duration `json:"took_ns"`
	Late   bool          `json:"late"`
	Peak   int64         `json:"peak_bytes"`
	// Benign is the peak of the benign run that followed.
	Benign int64 `json:"benign_peak_bytes"`
	Strays int   `json:"strays"`
	// Problems say what is wrong, none where all is well.
	Problems []string `json:"problems,omitempty"`
}

// answer is the part of a Result, or of the error in its place, that is looked at.
type answer struct {
	OK     bool            `json:"ok"`
	Output json.RawMessage `json:"output"`
	Logs   []abi.LogLine   `json:"logs"`
	Error  *abi.Fault      `json:"error"`
	// Attempts is 0 where the guest had not begun.
	Attempts int `json:"attempts"`
}

// walled runs a case with toolrun, and then the benign tool.
func (w *world) walled(ctx context.Context, l laid, db string) (*Walled, error) {
	done, err := w.call(ctx, l, db)
	for tries := 0; err == nil && tries < mostTries && neverBegan(l.Case, done); tries++ {
		l.deadline *= 2
		done, err = w.call(ctx, l, db)
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", l.Name, err)
	}
	v := &Walled{Took: done.Took, Peak: done.Peak, Late: done.Took > l.deadline+lateness}
	v.Answer, v.Problems = w.judge(l.Case, done)
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
func (w *world) call(ctx context.Context, l laid, db string) (ended, error) {
	cmd := exec.CommandContext(ctx, w.binary, l.command(w, db)...)
	cmd.Dir = l.dir
	return w.procs.execute(cmd, l.deadline+w.patience)
}

// judge compares what a run answered with what it should have.
func (w *world) judge(c corpus.Case, done ended) (word string, problems []string) {
	if done.Killed != ownEnd {
		return done.Killed, []string{done.Killed}
	}
	var a answer
	if err := json.Unmarshal(done.stdout, &a); err != nil {
		return "died", []string{fmt.Sprintf("exit code %d: %s", done.Exit, firstLine(done.stderr))}
	}
	word, exit := "ok", exitcode.Done
	if a.Error != nil {
		word, exit = string(a.Error.Code), exitcode.Of(a.Error.Code)
		if len(a.Error.Message) > mostMessage {
			problems = append(problems, fmt.Sprintf("a message of %d bytes", len(a.Error.Message)))
		}
	}
	if !w.allows(c.Want, word, a.Output) {
		told := word + " " + firstLine(a.Output)
		if a.Error != nil {
			told = a.Error.Error()
		}
		problems = append(problems, fmt.Sprintf("answered %.200s; want %s", told, c.Want))
	}
	if neverBegan(c, done) {
		problems = append(problems, "was stopped before it began")
	}
	if usage := a.Error != nil && a.Error.Code == abi.InvalidArgument; done.Exit != exit && !(usage && done.Exit == exitcode.Usage) {
		problems = append(problems, fmt.Sprintf("exit code %d with %s", done.Exit, word))
	}
	if len(a.Logs) > mostLogLines {
		problems = append(problems, fmt.Sprintf("%d log lines", len(a.Logs)))
	}
	return word, problems
}

// allows reports whether a case may be answered like this. What is our own mistake may never be.
func (w *world) allows(want corpus.Want, word string, output json.RawMessage) bool {
	if w.anyAnswer {
		return word != string(abi.Internal)
	}
	return want.Allows(word, output)
}

// leaks finds in what a run wrote what must never be there.
func (w *world) leaks(l laid, done ended) (problems []string) {
	all := slices.Concat(done.stdout, done.stderr)
	if len(done.stdout) > mostStdout || len(done.stderr) > mostStderr {
		problems = append(problems, fmt.Sprintf("wrote %d and %d bytes", len(done.stdout), len(done.stderr)))
	}
	if bytes.Contains(all, []byte(corpus.Secret)) {
		problems = append(problems, "told the secret")
	}
	if bytes.Contains(all, []byte(w.dir)) && !namesFolder(l.Case) {
		problems = append(problems, "told a path of the host")
	}
	if bytes.Contains(all, []byte("goroutine ")) {
		problems = append(problems, "told a stack of the host")
	}
	if bytes.ContainsFunc(done.stderr, isControl) {
		problems = append(problems, "wrote control characters to the terminal")
	}
	return problems
}

// namesFolder reports whether a case itself holds the path of the folder outside, which a message may quote.
func namesFolder(c corpus.Case) bool {
	return slices.ContainsFunc(c.Files, func(f corpus.File) bool { return strings.Contains(string(f.Data), "{{outside}}") })
}

func isControl(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }
