package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/hostile/corpus"
)

// pythonVariable is the environment variable that contains the path of the interpreter. The program
// toolrun uses the same variable.
const pythonVariable = "TOOLRUN_PYTHON_WASM"

// findPython returns the path of the interpreter that toolrun would use, or "" if no
// interpreter exists.
func (w *env) findPython(ctx context.Context) (string, error) {
	if file := os.Getenv(pythonVariable); file != "" {
		return filepath.Abs(file)
	}
	out, err := exec.CommandContext(ctx, w.binary, "python", "info", "--json").Output()
	if err != nil {
		return "", fmt.Errorf("find toolrun's Python interpreter: %w", err)
	}
	var info struct{ File string }
	return info.File, json.Unmarshal(out, &info)
}

// preparePython prepares the interpreter if a case requires Python. If no interpreter exists,
// preparePython prints a note.
func (w *env) preparePython(ctx context.Context, cases []corpus.Case, stderr io.Writer) error {
	if !slices.ContainsFunc(cases, corpus.Case.Python) {
		return nil
	}
	file, err := w.findPython(ctx)
	if err != nil {
		return err
	}
	if file == "" {
		fmt.Fprintln(stderr, "hostile: skipping tools in Python: no interpreter; run toolrun python install")
		return nil
	}
	return w.usePython(ctx, file)
}

// usePython sets the interpreter for tools in Python. Each run starts the interpreter in a new
// process, and the deadline includes the start of the interpreter. Python cases have longer
// deadlines than other cases. If the deadline were shorter, the guest would be stopped before it
// starts, and the case would test nothing.
//
// usePython therefore measures how long the interpreter takes to start on this machine. Twice the
// start time is added to the deadline of each tool in Python, because two interpreters can start
// concurrently. If a guest has not started before its deadline because the machine is busy, the
// guest runs again with more time. If the guest of a case never started, the case fails.
func (w *env) usePython(ctx context.Context, file string) error {
	w.python = file
	warm, err := w.layOut(corpus.Case{Name: "py/host/start", Tool: "tool.py", Timeout: time.Minute,
		Files: []corpus.File{{Path: "tool.py", Data: []byte("return 1\n")}}})
	if err != nil {
		return err
	}
	for range 2 { // the first run compiles the interpreter
		done, err := w.call(ctx, warm, "seed.db")
		if err != nil || done.Exit != 0 {
			return cmp.Or(err, fmt.Errorf("start Python: %s", firstLine(done.stdout)))
		}
		w.pythonStart = 2 * done.Duration
	}
	return nil
}

// deadline returns the time limit of a case.
func (w *env) deadline(c corpus.Case) time.Duration {
	if c.Python() {
		return c.Timeout + w.pythonStart
	}
	return c.Timeout
}

const maxTries = 2

// neverBegan reports whether a tool in Python was stopped before its code ran. If the guest never
// started, the case has tested nothing, except if the case attacks the compiler.
func neverBegan(c corpus.Case, done exit) bool {
	var a answer
	if !c.Python() || c.Kind() == "source" || json.Unmarshal(done.stdout, &a) != nil {
		return false
	}
	return a.Attempts == 0 && a.Error != nil && a.Error.Code == abi.Timeout
}
