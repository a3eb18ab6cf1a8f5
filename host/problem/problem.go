// Package problem describes mistakes in files that authors write. Examples are app files, agent
// files, machines and the code of tools. A Problem contains the file, the position and the
// description of a mistake. A Problem also describes how to fix the mistake. A List contains the
// problems of one app or one file.
package problem

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity is the severity of a Problem.
type Severity string

// The severities. If a declaration has a Problem with the severity Error, nothing can use the
// declaration. A Warning disables nothing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is a mistake in a file.
type Problem struct {
	// File is the path of the file in the form that the reader knows. An example is a path relative
	// to the app's folder. The first line and the first column have the number 1. A column is a
	// number of characters, not of bytes. If the problem does not belong to a position in the file,
	// Line and Column are 0.
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Message describes the problem. Hint describes how to fix the problem. Without a hint, it is
	// "".
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	// Tool, Prompt or Agent contains the name of the tool, the prompt or the agent to which the
	// problem belongs. All three fields are "" if the problem belongs to the whole app or to a file
	// outside of an app.
	Tool   string `json:"tool,omitempty"`
	Prompt string `json:"prompt,omitempty"`
	Agent  string `json:"agent,omitempty"`
}

// New returns a Problem with the severity Error. New truncates a message of more than 1,000 bytes,
// because other packages can quote long values in their messages.
func New(file string, line, column int, code Code, hint, format string, args ...any) Problem {
	const maxBytes = 1000
	message := fmt.Sprintf(format, args...)
	if len(message) > maxBytes {
		message = strings.ToValidUTF8(message[:maxBytes], "") + "…"
	}
	return Problem{File: file, Line: line, Column: column, Message: message, Hint: hint, Code: code, Severity: Error}
}

// String formats the problem as "file:line:column: message". The hint is on a separate line.
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

// A List contains several problems. The method Error returns the texts of all problems.
type List []Problem

// Error returns all problems. Each problem is on a separate line, and its hint is on the next line.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, p := range l {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the problems with the severity Error as a List. If no problem has this severity, Err
// returns nil.
func (l List) Err() error {
	if errs := l.filter(Error); len(errs) > 0 {
		return errs
	}
	return nil
}

// Warnings returns the problems with the severity Warning.
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

// Sorted sorts the list in place by file and position. Sorted returns the list without duplicates.
// Duplicates can occur if two declarations use the same invalid value.
func (l List) Sorted() List {
	slices.SortStableFunc(l, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column,
			strings.Compare(a.Message, b.Message), strings.Compare(a.Tool+a.Prompt+a.Agent, b.Tool+b.Prompt+b.Agent))
	})
	return slices.Compact(l)
}

// Quote puts a text in quotes for use in a message. Quote truncates a text of more than 60
// characters.
func Quote(text string) string {
	const maxRunes = 60
	if runes := []rune(text[:min(len(text), 4*maxRunes)]); len(runes) > maxRunes || len(text) > 4*maxRunes {
		text = string(runes[:min(len(runes), maxRunes)]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
