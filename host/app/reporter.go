package app

import "github.com/toolrun/toolrun/host/problem"

// reporter collects the problems of one declaration.
type reporter struct {
	problems problem.List
	more     bool // true if errors were dropped because there were more than maxProblems
	// At most one of these fields is set. It is the name of the tool, prompt or agent that is
	// currently read. New problems are assigned to this tool, prompt or agent.
	tool, prompt, agent string
}

// maxProblems is the maximum number of problems that are reported. If there are more errors than
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

// own selects a tool or a prompt. Problems that are reported later belong to this tool or prompt.
func (r *reporter) own(tool, prompt string) { r.tool, r.prompt = tool, prompt }

// position is a location in a file.
type position struct {
	file         string
	line, column int
}

func newProblem(at position, code problem.Code, hint, format string, args ...any) problem.Problem {
	return problem.New(at.file, at.line, at.column, code, hint, format, args...)
}
