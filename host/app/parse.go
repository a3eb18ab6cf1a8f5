package app

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// The limits on a file. Authors of files can be untrusted, so the limits keep the use of
// time and memory small.
const (
	maxFileBytes = 1 << 20
	maxNesting   = 128    // nested values
	maxTokens    = 32_768 // for YAML; the time of the parser is quadratic in the number of tokens
	maxValues    = 65_536 // with aliases expanded
)

// parse parses a YAML or JSON file. It returns either a value or problems.
func parse(file string, content []byte) (*node, Problems) {
	start := position{file, 1, 1}
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	if len(content) > maxFileBytes {
		return nil, Problems{newProblem(start, Unreadable, "", "the file is larger than %d KiB", maxFileBytes>>10)}
	}
	if problem := checkText(file, content); problem != nil {
		return nil, Problems{*problem}
	}
	// Convert carriage returns to newlines. In YAML, both end a line, but the YAML parser does not
	// count all carriage returns.
	content = bytes.ReplaceAll(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	// JSON is also valid YAML, but parseJSON reports exact positions and handles escapes and tabs
	// correctly.
	if strings.HasSuffix(file, ".json") || json.Valid(content) {
		return parseJSON(file, content)
	}
	return parseYAML(file, content)
}

// checkText rejects bytes that do not occur in text files.
func checkText(file string, content []byte) *Problem {
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		problem := newProblem(position{file, 1, 1}, Unreadable, "save it as UTF-8", "the file is encoded in UTF-16")
		return &problem
	}
	for i := 0; i < len(content); {
		r, size := utf8.DecodeRune(content[i:])
		if r == utf8.RuneError && size == 1 {
			problem := newProblem(positionOf(file, content, i), Unreadable, "save it as UTF-8", "the byte %#x is not valid UTF-8", content[i])
			return &problem
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			problem := newProblem(positionOf(file, content, i), Unreadable, "", "the file contains the control character %#U", r)
			return &problem
		}
		i += size
	}
	return nil
}

// positionOf returns the line and column of the byte at an offset.
func positionOf(file string, content []byte, offset int) position {
	before := content[:min(max(offset, 0), len(content))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return position{file, line, column}
}
