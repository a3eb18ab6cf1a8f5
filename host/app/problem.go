package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity is the severity of a Problem.
type Severity string

// The severities. Only errors keep the app, the tool or the prompt from being used.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Code identifies a kind of Problem for programs. Codes are append-only.
type Code string

// The codes of errors.
const (
	Unreadable    Code = "unreadable"     // the file is missing, empty, too large or not UTF-8 text
	Syntax        Code = "syntax"         // neither YAML nor JSON, or an unsupported part of YAML
	UnknownKey    Code = "unknown_key"    // a key without meaning at its position
	DuplicateKey  Code = "duplicate_key"  // a key that occurs twice in one mapping
	DuplicateName Code = "duplicate_name" // two names that are equal or differ only by case
	MissingKey    Code = "missing_key"    // a required key is missing
	WrongType     Code = "wrong_type"     // a value of the wrong type, such as a list instead of a string
	BadName       Code = "bad_name"       // an invalid name
	BadValue      Code = "bad_value"      // a value of the right type that is not allowed
	UnknownStore  Code = "unknown_store"  // a grant on a store that is not declared
	MissingFile   Code = "missing_file"   // a file that is named but does not exist or cannot be read
	OutsideFolder Code = "outside_folder" // a path or a link that leaves the folder
	BadSource     Code = "bad_source"     // a source that no engine runs
	BadSchema     Code = "bad_schema"     // a JSON Schema that is invalid or too expensive
	BadTemplate   Code = "bad_template"   // a prompt template that cannot be parsed
	OverLimit     Code = "over_limit"     // a limit is exceeded
)

// The codes of warnings.
const (
	PoorName      Code = "poor_name"      // a store name that does not describe the content
	NoDescription Code = "no_description" // a tool without a description, which models need to choose it
	NoEffect      Code = "no_effect"      // a setting without effect
	ShortLived    Code = "short_lived"    // shared memory that ends with the session of its last writer
	NotGranted    Code = "not_granted"    // a store that no tool or prompt is granted
	SchemaMistake Code = "schema_mistake" // a JSON Schema with a likely mistake
	Contradiction Code = "contradiction"  // two settings that contradict each other
	MissingGrant  Code = "missing_grant"  // a memory call that the tool's grants do not allow
	CodeMistake   Code = "code_mistake"   // code that fails when it is reached, or has no effect
)

// Problem is a mistake in a declaration.
type Problem struct {
	// File is relative to the app's folder. Line and Column count from 1, columns in characters.
	// Both are 0 if the problem concerns the file as a whole.
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Message describes the problem, and Hint how to fix it, if that is known.
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	// Tool or Prompt is the name of the tool or prompt with the problem. Both are "" for a problem
	// of the app as a whole.
	Tool   string `json:"tool,omitempty"`
	Prompt string `json:"prompt,omitempty"`
}

// String formats the problem as file:line:column: message, followed by a line with the hint.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Severity == SeverityWarning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString("\n  hint: " + p.Hint)
	}
	return b.String()
}

// Problems are the problems of a declaration, ordered by file and position.
type Problems []Problem

// Error returns every problem on a line of its own, each followed by its hint.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the errors among the problems as one error, or nil if there are none.
func (p Problems) Err() error {
	if errs := p.filter(func(q Problem) bool { return q.Severity == SeverityError }); len(errs) > 0 {
		return errs
	}
	return nil
}

// Warnings returns the warnings among the problems.
func (p Problems) Warnings() Problems {
	return p.filter(func(q Problem) bool { return q.Severity == SeverityWarning })
}

func (p Problems) filter(keep func(Problem) bool) Problems {
	var kept Problems
	for _, problem := range p {
		if keep(problem) {
			kept = append(kept, problem)
		}
	}
	return kept
}

// sorted sorts the problems by position and removes duplicates, which a part that is used twice
// causes.
func (p Problems) sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return cmp.Or(a.Line-b.Line, a.Column-b.Column,
			strings.Compare(a.Message, b.Message), strings.Compare(a.Tool+a.Prompt, b.Tool+b.Prompt))
	})
	return slices.Compact(p)
}

// position is a location in a file: a Problem's File, Line and Column.
type position struct {
	file         string
	line, column int
}

func newProblem(at position, code Code, hint, format string, args ...any) Problem {
	const maxBytes = 1000 // messages from other packages may quote long values
	message := fmt.Sprintf(format, args...)
	if len(message) > maxBytes {
		message = strings.ToValidUTF8(message[:maxBytes], "") + "…"
	}
	return Problem{
		File: at.file, Line: at.line, Column: at.column,
		Message: message, Hint: hint, Code: code, Severity: SeverityError,
	}
}

// quote quotes text for a message, and truncates it if it is long.
func quote(text string) string {
	const maxRunes = 60
	if runes := []rune(text[:min(len(text), 4*maxRunes)]); len(runes) > maxRunes || len(text) > 4*maxRunes {
		text = string(runes[:min(len(runes), maxRunes)]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
