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

// laid is a case whose files are in a folder.
type laid struct {
	corpus.Case
	dir      string // the folder of the case
	input    string // the file with the input, relative to it, "" for none
	deadline time.Duration
}

// lay writes the files of a case. They lie in a folder beside which there is another one, outside.
func (w *world) lay(c corpus.Case) (laid, error) {
	base := filepath.Join(w.dir, "cases", strings.ReplaceAll(c.Name, "/", "."))
	l := laid{Case: c, dir: filepath.Join(base, "tool"), deadline: w.deadline(c)}
	outside := filepath.Join(base, "outside")
	for _, dir := range []string{l.dir, outside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return l, err
		}
	}
	for _, f := range c.Files {
		if err := layFile(filepath.Join(l.dir, filepath.FromSlash(f.Path)), f, outside); err != nil {
			return l, fmt.Errorf("lay out %s: %w", c.Name, err)
		}
	}
	if c.Input == nil {
		return l, nil
	}
	l.input = filepath.Join("..", "input.json")
	return l, os.WriteFile(filepath.Join(l.dir, l.input), c.Input, 0o600)
}

func layFile(name string, f corpus.File, outside string) error {
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

// toWorld is the way from the folder of a case to that of the world. All paths are relative: an absolute one in what
// toolrun writes is one that nobody gave it.
var toWorld = filepath.Join("..", "..", "..")

// command is the arguments of toolrun that run the case, in its folder, for a user of its own, on a database.
func (l laid) command(w *world, db string) []string {
	args := []string{"run"}
	if l.App {
		args = append(args, l.Tool, "--app", "app.yaml")
	} else {
		args = append(args, "./"+l.Tool, "--app", filepath.Join(toWorld, "app.yaml"))
		for _, store := range []string{corpus.Own, corpus.Shared, corpus.Typed} {
			args = append(args, "--grant", store+"=readwrite")
		}
	}
	args = append(args, "--db", filepath.Join(toWorld, db), "--user", l.Name, "--session", strings.ReplaceAll(l.Name, "/", "-"), "--json", "--timeout", l.deadline.String())
	if l.Python() {
		args = append(args, "--python-wasm", w.python)
	}
	if l.input != "" {
		args = append(args, "--input", "@"+l.input)
	}
	return append(args, w.flags...)
}
