package machine

import (
	"github.com/toolrun/toolrun/host/problem"
)

// Position is a location in a file. Line and Column count from 1. Columns count characters. The
// zero value means that the location is unknown.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// maxProblems is the maximum number of problems that are reported for a file.
const maxProblems = 100

// reporter collects the problems of a file.
type reporter struct {
	file     string
	problems problem.List
}

func (r *reporter) report(severity problem.Severity, at Position, code problem.Code, hint, format string, args ...any) {
	if len(r.problems) < maxProblems {
		p := problem.New(r.file, at.Line, at.Column, code, hint, format, args...)
		p.Severity = severity
		r.problems = append(r.problems, p)
	}
}

func (r *reporter) errorf(at Position, code problem.Code, hint, format string, args ...any) {
	r.report(problem.Error, at, code, hint, format, args...)
}

func (r *reporter) warnf(at Position, code problem.Code, hint, format string, args ...any) {
	r.report(problem.Warning, at, code, hint, format, args...)
}
