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

//go:embed js py app
var files embed.FS

// textCases returns the cases that are text: a folder for each language, and one for apps.
func textCases() (cases []Case, err error) {
	for _, folder := range []string{"js", "py", "app"} {
		err := fs.WalkDir(files, folder, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			c, err := readCase(file)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			cases = append(cases, c)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return cases, nil
}

func readCase(file string) (Case, error) {
	ending := path.Ext(file)
	c := Case{Name: strings.TrimSuffix(file, ending)}
	text, err := files.ReadFile(file)
	if err != nil {
		return c, err
	}
	switch ending {
	case ".js":
		c.Tool = "tool.js"
		return c, c.readScript(text, "//")
	case ".py":
		c.Tool = "tool.py"
		return c, c.readScript(text, "#")
	case ".txtar":
		return c, c.readArchive(text)
	}
	return c, fmt.Errorf("the file is neither a tool nor an archive")
}

// readScript reads a case of one file, the tool, whose first comment is its header.
func (c *Case) readScript(text []byte, comment string) error {
	header := ""
	for line := range strings.Lines(string(text)) {
		said, ok := strings.CutPrefix(line, comment)
		if !ok {
			break
		}
		header += said
	}
	c.Files = []File{{Path: c.Tool, Data: text}}
	return c.describe(header)
}

// readArchive reads a case of several files.
func (c *Case) readArchive(text []byte) error {
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
}

// describe parses a header: sentences about the mechanism, then lines of "key: value".
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
			if c.NeedsIsolation = value == "wall"; !c.NeedsIsolation {
				err = fmt.Errorf("needs has the unknown value %q; want wall", value)
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
		return fmt.Errorf("the expected result is missing")
	}
	return nil
}
