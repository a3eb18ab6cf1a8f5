package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolrun/toolrun/hostile/corpus"
)

// layout is a case whose files have been written to a folder.
type layout struct {
	corpus.Case
	dir      string // the folder that contains the files of the case
	input    string // the path of the input file relative to dir; may be ""
	deadline time.Duration
}

// layOut writes the files of a case to a folder. layOut also creates a folder with the name
// "outside" in the same parent folder.
func (w *env) layOut(c corpus.Case) (layout, error) {
	base := filepath.Join(w.dir, "cases", strings.ReplaceAll(c.Name, "/", "."))
	l := layout{Case: c, dir: filepath.Join(base, "tool"), deadline: w.deadline(c)}
	outside := filepath.Join(base, "outside")
	for _, dir := range []string{l.dir, outside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return l, err
		}
	}
	for _, f := range c.Files {
		if err := writeFile(filepath.Join(l.dir, filepath.FromSlash(f.Path)), f, outside); err != nil {
			return l, fmt.Errorf("write files of %s: %w", c.Name, err)
		}
	}
	if c.Input == nil {
		return l, nil
	}
	l.input = filepath.Join("..", "input.json")
	return l, os.WriteFile(filepath.Join(l.dir, l.input), c.Input, 0o600)
}

func writeFile(name string, f corpus.File, outside string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	switch {
	case f.Link != "":
		return ignoreExisting(os.Symlink(f.Link, name))
	case f.Pipe:
		return ignoreExisting(makePipe(name))
	}
	return os.WriteFile(name, bytes.ReplaceAll(f.Data, []byte("{{outside}}"), []byte(outside)), 0o600)
}

func ignoreExisting(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// toEnvDir is the relative path from the folder of a case to the folder that all runs share. All
// paths are relative, so an absolute path in the output of toolrun is a leak.
var toEnvDir = filepath.Join("..", "..", "..")

// command returns the arguments for toolrun. With the arguments, toolrun runs the case in the
// folder of the case and uses the given database. Each case runs on behalf of a separate user.
func (l layout) command(w *env, db string) []string {
	args := []string{"run"}
	if l.App {
		args = append(args, l.Tool, "--app", "app.yaml")
	} else {
		args = append(args, "./"+l.Tool, "--app", filepath.Join(toEnvDir, "app.yaml"))
		for _, store := range []string{corpus.Own, corpus.Shared, corpus.Typed} {
			args = append(args, "--grant", store+"=readwrite")
		}
	}
	args = append(args, "--db", filepath.Join(toEnvDir, db), "--user", l.Name, "--session", strings.ReplaceAll(l.Name, "/", "-"), "--json", "--timeout", l.deadline.String())
	if l.Python() {
		args = append(args, "--python-wasm", w.python)
	}
	if l.input != "" {
		args = append(args, "--input", "@"+l.input)
	}
	return append(args, w.flags...)
}
