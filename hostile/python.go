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

// pythonVariable names the interpreter for toolrun too.
const pythonVariable = "TOOLRUN_PYTHON_WASM"

// findPython returns the file of the interpreter that toolrun would use, "" for none.
func (w *world) findPython(ctx context.Context) (string, error) {
	if file := os.Getenv(pythonVariable); file != "" {
		return filepath.Abs(file)
	}
	out, err := exec.CommandContext(ctx, w.binary, "python", "info", "--json").Output()
	if err != nil {
		return "", fmt.Errorf("ask toolrun for Python: %w", err)
	}
	var told struct{ File string }
	return told.File, json.Unmarshal(out, &told)
}

// preparePython gets Python ready where a case needs it, and says so where it is not there.
func (w *world) preparePython(ctx context.Context, cases []corpus.Case, stderr io.Writer) error {
	if !slices.ContainsFunc(cases, corpus.Case.Python) {
		return nil
	}
	file, err := w.findPython(ctx)
	if err != nil {
		return err
	}
	if file == "" {
		fmt.Fprintln(stderr, "hostile: tools in Python are left out: toolrun has no interpreter; toolrun python install gets one")
		return nil
	}
	return w.usePython(ctx, file)
}

// usePython has tools in Python run on an interpreter. A run of toolrun is a process of its own, which starts the
// interpreter, and its deadline counts from the call: with as little time as others have, a guest would be stopped
// before it began, and nothing would be shown. So what starting takes is measured on this machine, and each tool in
// Python gets twice that beside its own time, for two of them start at once. One that had not begun by then is run
// again with more, for the machine is busy; the judge demands that it began.
func (w *world) usePython(ctx context.Context, file string) error {
	w.python = file
	warm, err := w.lay(corpus.Case{Name: "py/host/start", Tool: "tool.py", Timeout: time.Minute,
		Files: []corpus.File{{Path: "tool.py", Data: []byte("return 1\n")}}})
	if err != nil {
		return err
	}
	for range 2 { // the first one compiles the interpreter, for all that follow
		done, err := w.call(ctx, warm, "seed.db")
		if err != nil || done.Exit != 0 {
			return cmp.Or(err, fmt.Errorf("start Python: %s", firstLine(done.stdout)))
		}
		w.pythonStart = 2 * done.Took
	}
	return nil
}

// deadline is what a case is given.
func (w *world) deadline(c corpus.Case) time.Duration {
	if c.Python() {
		return c.Timeout + w.pythonStart
	}
	return c.Timeout
}

const mostTries = 2

// neverBegan reports whether a tool in Python was stopped before any of its code ran, which shows nothing. Where the
// attack is on who compiles the source, that is all there is to stop.
func neverBegan(c corpus.Case, done ended) bool {
	var a answer
	if !c.Python() || c.Kind() == "source" || json.Unmarshal(done.stdout, &a) != nil {
		return false
	}
	return a.Attempts == 0 && a.Error != nil && a.Error.Code == abi.Timeout
}
