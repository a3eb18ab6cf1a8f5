package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"
)

// Env is the process environment of the commands. The zero value has no arguments, no input, no variables and no terminal.
type Env struct {
	// Args are the arguments without the name of the program.
	Args []string
	// Stdin, Stdout and Stderr are empty by default. Only one goroutine uses them at a time.
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Getenv returns an environment variable. By default, no variable is set.
	Getenv func(name string) string
	// Dir is the absolute path of the working directory. Default: the root.
	Dir string
	// CacheDir is the absolute path of the folder for the Python runtime and compiled code. By default, nothing is cached.
	CacheDir string
	// Reload starts to listen for requests to reload the app files, until stop is called. By default, there are none.
	Reload func() (requests <-chan os.Signal, stop func())
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// StdoutTerminal and StderrTerminal report whether the streams are terminals; see IsTerminal.
	StdoutTerminal bool
	StderrTerminal bool
}

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func (e Env) withDefaults() Env {
	if e.Args == nil {
		e.Args = []string{} // for nil, cobra uses os.Args
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

// path returns the absolute form of a path that a person wrote.
func (e Env) path(written string) string {
	if filepath.IsAbs(written) {
		return filepath.Clean(written)
	}
	return filepath.Join(e.Dir, written)
}

// show returns an absolute path as a person would write it, relative to the working directory.
func (e Env) show(path string) string {
	relative, err := filepath.Rel(e.Dir, path)
	if err != nil {
		return path
	}
	return relative
}

// color reports whether to write colors to a stream: it is a terminal, and the user did not disable them (no-color.org).
func (e Env) color(terminal bool) bool {
	return terminal && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}
