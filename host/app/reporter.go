package app

import "github.com/toolrun/toolrun/host/problem"

// reporter collects the problems of one declaration.
type reporter struct {
	problems problem.List
	more     bool // true if errors were dropped because of maxProblems
	// At most one of these fields is not empty. The field contains the name of the tool, prompt or
	// agent that is being read. New problems belong to this tool, prompt or agent.
	tool, prompt, agent string
}

// maxProblems is the maximum number of reported problems. If the number of errors exceeds
// maxProblems, Load returns no app.
const maxProblems = 1000

func (r *reporter) report(p problem.Problem) {
	switch p.Tool, p.Prompt, p.Agent = r.tool, r.prompt, r.agent; {
	case len(r.problems) < maxProblems:
	case p.Severity == problem.Error && !r.more:
		r.more = true
		p = newProblem(position{p.File, p.Line, p.Column}, problem.OverLimit, "", "more than %d problems were found; the list omits the other problems", maxProblems)
	default:
		return
	}
	r.problems = append(r.problems, p)
}

func (r *reporter) errorf(at position, code problem.Code, hint, format string, args ...any) {
	r.report(newProblem(at, code, hint, format, args...))
}

func (r *reporter) warnf(at position, code problem.Code, hint, format string, args ...any) {
	p := newProblem(at, code, hint, format, args...)
	p.Severity = problem.Warning
	r.report(p)
}

// The method "own" sets the tool or the prompt to which subsequent problems belong.
func (r *reporter) own(tool, prompt string) { r.tool, r.prompt = tool, prompt }

// position is a location in a file.
type position struct {
	file         string
	line, column int
}

func newProblem(at position, code problem.Code, hint, format string, args ...any) problem.Problem {
	return problem.New(at.file, at.line, at.column, code, hint, format, args...)
}
