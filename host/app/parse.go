package app

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/toolrun/toolrun/host/problem"
)

// These limits apply to each file. Authors of files can be untrusted. Therefore, these limits bound
// the time and the memory that are needed to parse a file.
const (
	maxFileBytes = 1 << 20
	maxNesting   = 128    // nested values
	maxTokens    = 32_768 // the time of the YAML parser is quadratic in this number
	maxValues    = 65_536 // with aliases expanded
)

// parse parses a YAML or JSON file. parse returns either a value or problems.
func parse(file string, content []byte) (*node, problem.List) {
	start := position{file, 1, 1}
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	if len(content) > maxFileBytes {
		return nil, problem.List{newProblem(start, problem.Unreadable, "", "the file is larger than %d KiB", maxFileBytes>>10)}
	}
	if mistake := checkText(file, content); mistake != nil {
		return nil, problem.List{*mistake}
	}
	// Convert carriage returns to newlines. In YAML, a carriage return ends a line. However, the
	// YAML parser does not count all carriage returns.
	content = bytes.ReplaceAll(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	// JSON is also valid YAML. However, parseJSON reports exact positions, and handles escapes and
	// tabs correctly.
	if strings.HasSuffix(file, ".json") || json.Valid(content) {
		return parseJSON(file, content)
	}
	return parseYAML(file, content)
}

// checkText rejects content that is not UTF-8, and content with characters below U+0020 other than
// tabs and line breaks.
func checkText(file string, content []byte) *problem.Problem {
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		mistake := newProblem(position{file, 1, 1}, problem.Unreadable, "save the file as UTF-8", "the file is encoded in UTF-16")
		return &mistake
	}
	for i := 0; i < len(content); {
		r, size := utf8.DecodeRune(content[i:])
		if r == utf8.RuneError && size == 1 {
			mistake := newProblem(positionOf(file, content, i), problem.Unreadable, "save the file as UTF-8", "the byte %#x is not valid UTF-8", content[i])
			return &mistake
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			mistake := newProblem(positionOf(file, content, i), problem.Unreadable, "", "the file contains the control character %#U", r)
			return &mistake
		}
		i += size
	}
	return nil
}

// positionOf converts the offset of a byte to a line and a column.
func positionOf(file string, content []byte, offset int) position {
	before := content[:min(max(offset, 0), len(content))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return position{file, line, column}
}
