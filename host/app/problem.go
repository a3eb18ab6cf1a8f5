package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says whether a Problem keeps something from working.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Code names a kind of Problem for programs. Codes are append-only.
type Code string

// The codes of errors.
const (
	Unreadable    Code = "unreadable"     // the file is missing, empty, too large or no text in UTF-8
	Syntax        Code = "syntax"         // neither YAML nor JSON, or a part of YAML that is not supported
	UnknownKey    Code = "unknown_key"    // a key that has no meaning at its place
	DuplicateKey  Code = "duplicate_key"  // a key given twice in one mapping
	DuplicateName Code = "duplicate_name" // two names that differ at most by case
	MissingKey    Code = "missing_key"    // a required key is not there
	WrongType     Code = "wrong_type"     // a list where a text is due, and the like
	BadName       Code = "bad_name"       // a name that breaks the rule for names
	BadValue      Code = "bad_value"      // a value of the right type that is not allowed
	UnknownStore  Code = "unknown_store"  // a grant for a store that is not declared
	MissingFile   Code = "missing_file"   // a file that is named but not there, or cannot be read
	OutsideFolder Code = "outside_folder" // a path or a link that leaves the folder
	BadSource     Code = "bad_source"     // a source that no engine runs
	BadSchema     Code = "bad_schema"     // a JSON Schema that is wrong or cannot be bounded
	BadTemplate   Code = "bad_template"   // a prompt's template that cannot be parsed
	OverLimit     Code = "over_limit"     // more than is allowed
)

// The codes of warnings.
const (
	PoorName      Code = "poor_name"      // a technical name that says nothing
	NoDescription Code = "no_description" // a tool that models cannot choose, for it is not described
	NoEffect      Code = "no_effect"      // a setting that does nothing as it stands
	ShortLived    Code = "short_lived"    // shared memory that ends with whoever wrote it last
	NotGranted    Code = "not_granted"    // a store that nothing may use
	SchemaMistake Code = "schema_mistake" // a JSON Schema that does not check what it seems to
	Contradiction Code = "contradiction"  // two settings of which one must be wrong
	MissingGrant  Code = "missing_grant"  // a memory call that the tool's grants do not allow
	CodeMistake   Code = "code_mistake"   // code that fails when it is reached, or has no effect
)

// Problem is one mistake in a declaration.
type Problem struct {
	// File is relative to the app's folder. Line and Column count from 1, columns in characters; both are 0
	// where the problem is about the file as a whole.
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Message says what is wrong and Hint what to do about it, where that can be told.
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	// Tool or Prompt names the one that the problem is about; both are "" for the app as a whole.
	Tool   string `json:"tool,omitempty"`
	Prompt string `json:"prompt,omitempty"`
}

// String returns the problem as one line, file:line:column: message, and its hint on a line of its own.
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

// Problems are all mistakes of a declaration, ordered by file and place.
type Problems []Problem

// Error returns every problem, one a line, each followed by its hint.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the problems that are errors as one error, or nil where there are none.
func (p Problems) Err() error {
	if errs := p.filter(func(q Problem) bool { return q.Severity == SeverityError }); len(errs) > 0 {
		return errs
	}
	return nil
}

// Warnings returns the problems that keep nothing from working.
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

// sorted orders the problems by place and drops repetitions, which a part that is used twice causes.
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

// place is where something is written: Problem's File, Line and Column.
type place struct {
	file         string
	line, column int
}

func newProblem(at place, code Code, hint, format string, args ...any) Problem {
	const most = 1000 // bytes; a message may hold what other packages say of long values
	message := fmt.Sprintf(format, args...)
	if len(message) > most {
		message = strings.ToValidUTF8(message[:most], "") + "…"
	}
	return Problem{
		File: at.file, Line: at.line, Column: at.column,
		Message: message, Hint: hint, Code: code, Severity: SeverityError,
	}
}

// quote returns text in quotes for a message, cut where it is long.
func quote(text string) string {
	const most = 60
	if runes := []rune(text[:min(len(text), 4*most)]); len(runes) > most || len(text) > 4*most {
		text = string(runes[:min(len(runes), most)]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
