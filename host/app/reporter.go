package app

// reporter collects the problems of one declaration.
type reporter struct {
	problems Problems
	more     bool // whether there are errors beyond maxProblems
	// tool or prompt is the one being read, which problems belong to.
	tool, prompt string
}

// maxProblems bounds how many problems are told. An app with more errors is not used, whatever they are about.
const maxProblems = 1000

func (r *reporter) report(p Problem) {
	switch p.Tool, p.Prompt = r.tool, r.prompt; {
	case len(r.problems) < maxProblems:
	case p.Severity == SeverityError && !r.more:
		r.more = true
		p = newProblem(place{p.File, p.Line, p.Column}, OverLimit, "", "there are more than %d problems; the others are not told", maxProblems)
	default:
		return
	}
	r.problems = append(r.problems, p)
}

func (r *reporter) errorf(at place, code Code, hint, format string, args ...any) {
	r.report(newProblem(at, code, hint, format, args...))
}

func (r *reporter) warnf(at place, code Code, hint, format string, args ...any) {
	p := newProblem(at, code, hint, format, args...)
	p.Severity = SeverityWarning
	r.report(p)
}

// own sets the tool or the prompt that further problems belong to.
func (r *reporter) own(tool, prompt string) { r.tool, r.prompt = tool, prompt }
