package abl

import "github.com/toolrun/toolrun/host/problem"

// problemAt returns a problem without the name of the file, which the reader of the file adds.
func problemAt(at Position, code problem.Code, hint, format string, args ...any) problem.Problem {
	return problem.New("", at.Line, at.Column, code, hint, format, args...)
}
