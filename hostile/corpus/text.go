package corpus

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed js app
var files embed.FS

// scripts are the cases that are one file of JavaScript.
func scripts() ([]Case, error) {
	return read("js", ".js", func(c *Case, text []byte) error {
		header := ""
		for line := range strings.Lines(string(text)) {
			comment, ok := strings.CutPrefix(line, "//")
			if !ok {
				break
			}
			header += comment
		}
		c.Tool, c.Files = "tool.js", []File{{Path: "tool.js", Data: text}}
		return c.describe(header)
	})
}

// archives are the cases that are several files.
func archives() ([]Case, error) {
	return read("app", ".txtar", func(c *Case, text []byte) error {
		archive := txtar.Parse(text)
		for _, f := range archive.Files {
			name, kind, _ := strings.Cut(f.Name, " ")
			file := File{Path: name}
			switch target, link := strings.CutPrefix(kind, "-> "); {
			case link:
				file.Link = target
			case kind == "pipe":
				file.Pipe = true
			case kind == "":
				file.Data = f.Data
			default:
				return fmt.Errorf("%q is neither a link nor a pipe", f.Name)
			}
			c.Files = append(c.Files, file)
			c.App = c.App || name == "app.yaml"
		}
		c.Tool = "." // the folder is the tool
		if c.App {
			c.Tool = "attack"
		}
		return c.describe(string(archive.Comment))
	})
}

// read makes a case of each file under a folder.
func read(folder, ending string, fill func(*Case, []byte) error) (cases []Case, err error) {
	err = fs.WalkDir(files, folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if path.Ext(file) != ending {
			return fmt.Errorf("%s is no case", file)
		}
		text, err := files.ReadFile(file)
		if err != nil {
			return err
		}
		c := Case{Name: strings.TrimSuffix(file, ending)}
		if err := fill(&c, text); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		cases = append(cases, c)
		return nil
	})
	return cases, err
}

// describe reads a header: sentences about the mechanism, then lines of "key: value".
func (c *Case) describe(header string) (err error) {
	expected := false
	for line := range strings.Lines(header) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case "expect":
			expected = true
			c.Want, err = parseWant(value)
		case "needs":
			if c.Wall = value == "wall"; !c.Wall {
				err = fmt.Errorf("it needs %q; there is only a wall", value)
			}
		case "input":
			c.Input = []byte(value)
		case "timeout":
			c.Timeout, err = time.ParseDuration(value)
		default:
			c.Mechanism = strings.TrimSpace(c.Mechanism + " " + line)
		}
		if err != nil {
			return err
		}
	}
	if !expected {
		return fmt.Errorf("what is expected is missing")
	}
	return nil
}
