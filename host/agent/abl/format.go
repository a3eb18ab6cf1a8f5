package abl

import "strings"

// Format returns a file in which indentation and spacing are uniform. The returned file has the
// same meaning, the same comments and the same order of lines. If Format is called with the
// returned file, it returns the same file. If Format cannot determine the lines of the file or
// their nesting, it returns an error of type problem.List.
func Format(src []byte) ([]byte, error) {
	root, after, problems := readTree(src)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	f := &formatter{}
	for _, e := range root.children {
		f.entry(e)
	}
	f.comments(after, 0)
	text := strings.Trim(f.out.String(), "\n")
	if text == "" {
		return nil, nil
	}
	return []byte(text + "\n"), nil
}

type formatter struct{ out strings.Builder }

// line writes a line with its indentation, and without trailing spaces.
func (f *formatter) line(indent int, text string) {
	if text != "" {
		f.out.WriteString(strings.Repeat(" ", indent) + text)
	}
	f.out.WriteByte('\n')
}

// comments writes comments and blank lines. Several consecutive blank lines become one blank line.
func (f *formatter) comments(lines []string, indent int) {
	for i, line := range lines {
		if line != "" || i == 0 || lines[i-1] != "" {
			f.line(indent, line)
		}
	}
}

func (f *formatter) entry(e *entry) {
	indent := 2 * e.depth
	f.comments(e.before, indent)
	text := ""
	if e.key != "" {
		text = e.key + ":"
	}
	switch {
	case e.block:
		text += " |"
	case text != "" && e.raw[0] != "":
		text += " " + e.raw[0]
	case text == "":
		text = e.raw[0]
	}
	margin := indent + 2
	if e.dash {
		text = strings.TrimRight("- "+text, " ")
		margin += 2
	}
	if e.comment != "" {
		text += "  " + e.comment
	}
	f.line(indent, text)
	further := e.raw
	if !e.block {
		further = e.raw[1:]
	}
	for _, line := range further {
		f.line(margin, line)
	}
	for _, child := range e.children {
		f.entry(child)
	}
}
