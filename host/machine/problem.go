package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity is the severity of a Problem.
type Severity string

// The severities. A machine with an error cannot run. A machine with only warnings can run.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Code identifies a kind of Problem for programs. Codes can be added, but are never changed or
// removed.
type Code string

// The codes of problems.
const (
	CodeSyntax      Code = "syntax"         // a line or JavaScript code that cannot be parsed
	CodeUnknownKey  Code = "unknown_key"    // a keyword or a setting without meaning at its position
	CodeDuplicate   Code = "duplicate_name" // a name that is declared twice
	CodeMissing     Code = "missing_key"    // a required part is missing
	CodeBadName     Code = "bad_name"       // an invalid name
	CodeBadValue    Code = "bad_value"      // a value that is not allowed
	CodeUnknown     Code = "unknown_name"   // a step, an input or a permission that is not declared
	CodePermission  Code = "permission"     // a step without the permission that it requires
	CodeNoEffect    Code = "no_effect"      // a declaration without effect
	CodeOverLimit   Code = "over_limit"     // a limit is exceeded
	CodePlaceholder Code = "placeholder"    // a placeholder such as <name>
)

// Position is a location in a file. Line and Column count from 1. Columns count characters. The
// zero value is an unknown location.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Problem is a mistake in a file.
type Problem struct {
	File string `json:"file"`
	Position
	// Message describes the problem. Hint describes how to fix the problem, or is "".
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
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

// Problems are the problems of a file, ordered by position.
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
	var errs Problems
	for _, problem := range p {
		if problem.Severity == SeverityError {
			errs = append(errs, problem)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errs
}

// Sorted returns the problems by position, without duplicates.
func (p Problems) Sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(p)
}

// maxProblems is the maximum number of reported problems of a file.
const maxProblems = 100

// reporter collects the problems of a file.
type reporter struct {
	file     string
	problems Problems
}

func (r *reporter) report(severity Severity, at Position, code Code, hint, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{
			File: r.file, Position: at, Message: fmt.Sprintf(format, args...), Hint: hint, Code: code, Severity: severity,
		})
	}
}

func (r *reporter) errorf(at Position, code Code, hint, format string, args ...any) {
	r.report(SeverityError, at, code, hint, format, args...)
}

func (r *reporter) warnf(at Position, code Code, hint, format string, args ...any) {
	r.report(SeverityWarning, at, code, hint, format, args...)
}

// quote quotes text for a message, and truncates it if it is long.
func quote(text string) string {
	const maxRunes = 60
	if runes := []rune(text[:min(len(text), 4*maxRunes)]); len(runes) > maxRunes || len(text) > 4*maxRunes {
		text = string(runes[:min(len(runes), maxRunes)]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
