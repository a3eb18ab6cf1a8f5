package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity is the severity of a Problem.
type Severity string

// The severities. An error disables the app, the tool, the prompt or all agents. A warning disables
// nothing.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Code identifies the kind of a Problem for programs. Codes can be added, but are never changed or
// removed.
type Code string

// The codes of errors.
const (
	Unreadable    Code = "unreadable"     // the file is missing, empty or too large, or is not UTF-8 text
	Syntax        Code = "syntax"         // neither YAML nor JSON, or an unsupported part of YAML
	UnknownKey    Code = "unknown_key"    // a key that is not known at its position
	DuplicateKey  Code = "duplicate_key"  // a key that occurs twice in one mapping
	DuplicateName Code = "duplicate_name" // two names that are equal or differ only by case
	MissingKey    Code = "missing_key"    // a required key is missing
	WrongType     Code = "wrong_type"     // a value of the wrong type, such as a list instead of a string
	BadName       Code = "bad_name"       // an invalid name
	BadValue      Code = "bad_value"      // a value of the right type that is not allowed
	UnknownStore  Code = "unknown_store"  // a grant on a store that is not declared
	MissingFile   Code = "missing_file"   // a referenced file that does not exist or cannot be read
	OutsideFolder Code = "outside_folder" // a path or a link that leaves the folder
	BadSource     Code = "bad_source"     // a source that the engines cannot run
	BadSchema     Code = "bad_schema"     // a JSON Schema that is invalid or too expensive
	BadTemplate   Code = "bad_template"   // a prompt template that cannot be parsed
	OverLimit     Code = "over_limit"     // a limit is exceeded
)

// The codes of warnings.
const (
	PoorName      Code = "poor_name"      // a store name that does not describe the content
	NoDescription Code = "no_description" // a tool without a description, which models use to choose a tool
	NoEffect      Code = "no_effect"      // a setting without effect
	ShortLived    Code = "short_lived"    // a shared store whose records end with the session of the last writer
	NotGranted    Code = "not_granted"    // a store that is not granted to any tool or prompt
	SchemaMistake Code = "schema_mistake" // a JSON Schema with a likely mistake
	Contradiction Code = "contradiction"  // two settings that contradict each other
	MissingGrant  Code = "missing_grant"  // a memory call that the tool's grants do not allow
	UnknownModel  Code = "unknown_model"  // a model that the operator has not configured
	CodeMistake   Code = "code_mistake"   // code that always fails or has no effect
)

// Problem is a mistake in a declaration.
type Problem struct {
	// File is a path relative to the app's folder. Line and Column start at 1. Columns are counted
	// in characters. If the problem concerns the file as a whole, Line and Column are 0.
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Message describes the problem. Hint describes how to fix the problem, or is "".
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	// Tool, Prompt or Agent is the name of the tool, prompt or agent with the problem. For a problem
	// of the app as a whole, all three are "".
	Tool   string `json:"tool,omitempty"`
	Prompt string `json:"prompt,omitempty"`
	Agent  string `json:"agent,omitempty"`
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

// Problems is a list of problems of a declaration, sorted by file and position.
type Problems []Problem

// Error returns all problems, each on a separate line and followed by its hint.
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

// sorted sorts the problems by position and removes duplicates, which occur if a value is used
// twice.
func (p Problems) sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return cmp.Or(a.Line-b.Line, a.Column-b.Column,
			strings.Compare(a.Message, b.Message), strings.Compare(a.Tool+a.Prompt+a.Agent, b.Tool+b.Prompt+b.Agent))
	})
	return slices.Compact(p)
}

// position is a location in a file: a Problem's File, Line and Column.
type position struct {
	file         string
	line, column int
}

func newProblem(at position, code Code, hint, format string, args ...any) Problem {
	const maxBytes = 1000 // messages from other packages can quote long values
	message := fmt.Sprintf(format, args...)
	if len(message) > maxBytes {
		message = strings.ToValidUTF8(message[:maxBytes], "") + "…"
	}
	return Problem{
		File: at.file, Line: at.line, Column: at.column,
		Message: message, Hint: hint, Code: code, Severity: SeverityError,
	}
}

// quote quotes text for a message and truncates long text.
func quote(text string) string {
	const maxRunes = 60
	if runes := []rune(text[:min(len(text), 4*maxRunes)]); len(runes) > maxRunes || len(text) > 4*maxRunes {
		text = string(runes[:min(len(runes), maxRunes)]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
