package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the path of the project's folder.
const root = ".."

// step is one step of a page. A step is a fenced block, or an instruction in a comment.
type step struct {
	line     int
	mark     string // the keyword of the comment, or "" if the block has no comment
	argument string // what follows the keyword
	language string // of a block
	text     string // of a block
}

var marks = regexp.MustCompile(`^<!-- (file|from|output|not run|copy|run): (.+) -->$`)

// standalone reports whether a comment is an instruction without a block.
func standalone(mark string) bool { return mark == "copy" || mark == "run" }

// readPage returns the steps of a page.
func readPage(t *testing.T, name string) []step {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := parsePage(string(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return steps
}

func parsePage(text string) (steps []step, err error) {
	var pending, open *step
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case open != nil && trimmed == "```":
			steps, open = append(steps, *open), nil
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(trimmed, "```"):
			open = &step{line: i + 1}
			if pending != nil {
				open, pending = pending, nil
			}
			open.language = strings.TrimPrefix(trimmed, "```")
		case trimmed == "":
		default:
			if pending != nil {
				return nil, fmt.Errorf("line %d: no block follows the comment %q", pending.line, pending.mark)
			}
			m := marks.FindStringSubmatch(trimmed)
			if m == nil {
				continue
			}
			if s := (step{line: i + 1, mark: m[1], argument: m[2]}); standalone(s.mark) {
				steps = append(steps, s)
			} else {
				pending = &s
			}
		}
	}
	if pending != nil || open != nil {
		return nil, fmt.Errorf("the page ends within a block, or after a comment that needs one")
	}
	return steps, nil
}

// command is a command of a console block, with the output that the page shows.
type command struct {
	line int
	text string
	want string
}

// commands returns the commands of a console block. A command can continue on the next line after a
// backslash or within single quotes.
func (s step) commands() (all []command) {
	for i, line := range strings.Split(strings.TrimSuffix(s.text, "\n"), "\n") {
		var last *command
		if len(all) > 0 {
			last = &all[len(all)-1]
		}
		switch text, prompt := strings.CutPrefix(line, "$ "); {
		case last != nil && last.want == "" && unfinished(last.text):
			last.text += "\n" + line
		case prompt || s.language == "sh":
			all = append(all, command{line: s.line + i + 1, text: text})
		case last != nil:
			last.want += line + "\n"
		}
	}
	return all
}

func unfinished(text string) bool {
	return strings.HasSuffix(text, `\`) || strings.Count(text, "'")%2 == 1
}
