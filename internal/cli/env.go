package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"
)

// Env is the process environment of the commands. The zero value of Env has no arguments, no input,
// no environment variables and no terminal.
type Env struct {
	// Args are the command-line arguments without the program name.
	Args []string
	// Stdin, Stdout and Stderr are empty by default. Only one goroutine uses the streams of an Env
	// at a time.
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Getenv returns the value of an environment variable. By default, all variables are empty.
	Getenv func(name string) string
	// Dir is the absolute path of the working directory. Default: the root directory.
	Dir string
	// CacheDir is the absolute path of a cache folder. The folder contains the Python runtime and
	// compiled code. Default: nothing is cached.
	CacheDir string
	// Reload returns a channel of requests to reload the app files. Call the returned function
	// "stop" when the channel is no longer needed. Default: no requests.
	Reload func() (requests <-chan os.Signal, stop func())
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// StdoutTerminal is true if Stdout is a terminal. StderrTerminal is true if Stderr is a
	// terminal. See IsTerminal.
	StdoutTerminal bool
	StderrTerminal bool
}

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func (e Env) withDefaults() Env {
	if e.Args == nil {
		e.Args = []string{} // if the slice were nil, cobra would use os.Args
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

// path converts a path from the user to an absolute path.
func (e Env) path(written string) string {
	if filepath.IsAbs(written) {
		return filepath.Clean(written)
	}
	return filepath.Join(e.Dir, written)
}

// show converts an absolute path to the form that a user would write. The result is usually
// relative to the working directory.
func (e Env) show(path string) string {
	relative, err := filepath.Rel(e.Dir, path)
	if err != nil {
		return path
	}
	return relative
}

// color reports whether output to a stream is colored. Output is colored if the stream is a
// terminal and the user has not disabled colors (no-color.org).
func (e Env) color(terminal bool) bool {
	return terminal && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}
