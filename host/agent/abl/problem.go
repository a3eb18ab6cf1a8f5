package abl

import "github.com/toolrun/toolrun/host/problem"

// problemAt returns a problem that does not contain the name of the file. The reader of the file
// adds the name later.
func problemAt(at Position, code problem.Code, hint, format string, args ...any) problem.Problem {
	return problem.New("", at.Line, at.Column, code, hint, format, args...)
}
