package abl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity is the severity of a Problem.
type Severity string

// The severities. A file with an error cannot be used. A file with only warnings can be used.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Code identifies a kind of Problem for programs. Codes can be added, but are never changed or
// removed.
type Code string

// The codes of problems.
const (
	CodeSyntax     Code = "syntax"          // a line or an expression that cannot be parsed
	CodeIndent     Code = "indentation"     // tabs, or an indentation that matches no line above
	CodeUnknownKey Code = "unknown_key"     // a key without meaning at its position
	CodeDuplicate  Code = "duplicate_name"  // a name that is declared twice
	CodeMissing    Code = "missing_key"     // a required key is missing
	CodeBadValue   Code = "bad_value"       // a value that is not allowed
	CodeUnknown    Code = "unknown_name"    // a step, tool, agent or function that is not declared
	CodeAccess     Code = "access"          // a read or write that ACCESS does not allow
	CodeScope      Code = "scope"           // a path with two scopes
	CodeLoop       Code = "loop"            // steps or handoffs that never end
	CodeNoEffect   Code = "no_effect"       // a declaration without effect
	CodeTemplate   Code = "bad_template"    // a template that cannot be parsed
	CodeOverLimit  Code = "over_limit"      // a limit is exceeded
	CodeStyle      Code = "style"           // a discouraged form
	CodeSuspicious Code = "suspicious_rule" // a rule that probably does not have the intended effect
)

// Problem is a mistake in a file.
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Message describes the problem. Hint describes how to fix the problem, or is "".
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
}

// String formats the problem as file:line:column: message, followed by a line with the hint.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", p.Line, p.Column)
	}
	if b.Len() > 0 {
		b.WriteString(" ")
	}
	if p.Severity == SeverityWarning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString("\n  hint: " + p.Hint)
	}
	return b.String()
}

// Error returns the problem as String does.
func (p Problem) Error() string { return p.String() }

// Problems are the problems of files, ordered by file and position.
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
	if errs := p.filter(SeverityError); len(errs) > 0 {
		return errs
	}
	return nil
}

// Warnings returns the warnings among the problems.
func (p Problems) Warnings() Problems { return p.filter(SeverityWarning) }

func (p Problems) filter(severity Severity) Problems {
	var kept Problems
	for _, problem := range p {
		if problem.Severity == severity {
			kept = append(kept, problem)
		}
	}
	return kept
}

// The method "sorted" returns the problems by position, without duplicates.
func (p Problems) sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(p)
}

func problemAt(at Position, code Code, hint, format string, args ...any) Problem {
	const maxBytes = 1000
	message := fmt.Sprintf(format, args...)
	if len(message) > maxBytes {
		message = strings.ToValidUTF8(message[:maxBytes], "") + "…"
	}
	return Problem{Line: at.Line, Column: at.Column, Message: message, Hint: hint, Code: code, Severity: SeverityError}
}

// quote quotes text for a message, and truncates it if it is long.
func quote(text string) string {
	const maxRunes = 60
	if runes := []rune(text[:min(len(text), 4*maxRunes)]); len(runes) > maxRunes || len(text) > 4*maxRunes {
		text = string(runes[:min(len(runes), maxRunes)]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
