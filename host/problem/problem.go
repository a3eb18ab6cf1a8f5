// Package problem describes mistakes in files that authors write: app files, agent files, machines
// and the code of tools. A Problem names the file and the position, what is wrong, and how to fix
// it. A List holds the problems of one app or file.
package problem

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity is the severity of a Problem.
type Severity string

// The severities. If a declaration has a Problem with the severity Error, it cannot be used. A
// Warning disables nothing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is a mistake in a file.
type Problem struct {
	// File is the path of the file as its reader names it, such as a path relative to the app's
	// folder. Line and Column start at 1. Columns are counted in characters. If the problem concerns
	// the file as a whole, Line and Column are 0.
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Message describes the problem. Hint describes how to fix the problem, or is "" if there is no
	// advice.
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	// If the problem concerns a tool, a prompt or an agent of an app, the field Tool, Prompt or
	// Agent is its name. If the problem concerns the app as a whole, or a file outside of an app,
	// all three fields are "".
	Tool   string `json:"tool,omitempty"`
	Prompt string `json:"prompt,omitempty"`
	Agent  string `json:"agent,omitempty"`
}

// New returns a Problem with the severity Error. If a message has more than 1,000 bytes, New
// truncates it, because messages of other packages can quote long values.
func New(file string, line, column int, code Code, hint, format string, args ...any) Problem {
	const maxBytes = 1000
	message := fmt.Sprintf(format, args...)
	if len(message) > maxBytes {
		message = strings.ToValidUTF8(message[:maxBytes], "") + "…"
	}
	return Problem{File: file, Line: line, Column: column, Message: message, Hint: hint, Code: code, Severity: Error}
}

// String formats the problem as "file:line:column: message", followed by a line with the hint.
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
	if p.Severity == Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString("\n  hint: " + p.Hint)
	}
	return b.String()
}

// Error returns the problem in the format of String.
func (p Problem) Error() string { return p.String() }

// List is a list of problems. The error text of a List describes all its problems.
type List []Problem

// Error returns all problems, each on a separate line and followed by its hint.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, p := range l {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the problems of severity Error as one error of type List, or nil if there are none.
func (l List) Err() error {
	if errs := l.filter(Error); len(errs) > 0 {
		return errs
	}
	return nil
}

// Warnings returns the problems of severity Warning.
func (l List) Warnings() List { return l.filter(Warning) }

func (l List) filter(severity Severity) List {
	var kept List
	for _, p := range l {
		if p.Severity == severity {
			kept = append(kept, p)
		}
	}
	return kept
}

// Sorted sorts the list in place by file and position, and returns the list without duplicates.
// Duplicates occur, for example, if two declarations use the same invalid value.
func (l List) Sorted() List {
	slices.SortStableFunc(l, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column,
			strings.Compare(a.Message, b.Message), strings.Compare(a.Tool+a.Prompt+a.Agent, b.Tool+b.Prompt+b.Agent))
	})
	return slices.Compact(l)
}

// Quote quotes text for a message and truncates text of more than 60 characters.
func Quote(text string) string {
	const maxRunes = 60
	if runes := []rune(text[:min(len(text), 4*maxRunes)]); len(runes) > maxRunes || len(text) > 4*maxRunes {
		text = string(runes[:min(len(runes), maxRunes)]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
