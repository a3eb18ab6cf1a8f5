package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"
)

// Env is what the commands may know of the process they run in. The zero value is a process with no
// arguments, no input and no variables that nobody looks at.
type Env struct {
	// Args are the arguments without the program's name.
	Args []string
	// Stdin, Stdout and Stderr default to none. They are used by one goroutine at a time.
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Getenv looks up a variable of the environment. Default: there are none.
	Getenv func(name string) string
	// Dir is the working directory, where relative paths begin: an absolute path. Default: the root.
	Dir string
	// CacheDir is where the Python runtime and compiled code are kept: an absolute path. Default: they are not.
	CacheDir string
	// Reload begins to listen to who asks a service to read its app files again, until stop. Default: nobody asks.
	Reload func() (asked <-chan os.Signal, stop func())
	// Now is the clock. Default: the system's.
	Now func() time.Time
	// StdoutTerminal and StderrTerminal say whether a person looks at them; see IsTerminal.
	StdoutTerminal bool
	StderrTerminal bool
}

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func (e Env) withDefaults() Env {
	if e.Args == nil {
		e.Args = []string{} // cobra takes those of the process for nil
	}
	if e.Stdin == nil {
		e.Stdin = strings.NewReader("")
	}
	if e.Stdout == nil {
		e.Stdout = io.Discard
	}
	if e.Stderr == nil {
		e.Stderr = io.Discard
	}
	if e.Getenv == nil {
		e.Getenv = func(string) string { return "" }
	}
	if e.Reload == nil {
		e.Reload = func() (<-chan os.Signal, func()) { return nil, func() {} }
	}
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.Dir == "" {
		e.Dir = string(filepath.Separator)
	}
	return e
}

// path makes a path that a person wrote absolute.
func (e Env) path(written string) string {
	if filepath.IsAbs(written) {
		return filepath.Clean(written)
	}
	return filepath.Join(e.Dir, written)
}

// show writes an absolute path as a person would, relative to where they are.
func (e Env) show(path string) string {
	relative, err := filepath.Rel(e.Dir, path)
	if err != nil {
		return path
	}
	return relative
}

// color reports whether a stream takes colours: a terminal whose user did not refuse them (no-color.org).
func (e Env) color(terminal bool) bool {
	return terminal && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}
