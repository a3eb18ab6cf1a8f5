package app

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
	"github.com/toolrun/toolrun/host/problem"
)

// closing maps each opening bracket to the corresponding closing bracket.
var closing = map[string]string{"{": "}", "[": "]"}

// bracketProblem returns the first error about the brackets of a file that cannot be parsed, or nil
// if all brackets match. Each of these is an error: a closing bracket of the wrong kind, a closing
// bracket without an opening bracket, and a missing closing bracket.
func bracketProblem(file string, tokens token.Tokens) *problem.Problem {
	var open []*token.Token
	found := func(t *token.Token, hint, format string, args ...any) *problem.Problem {
		mistake := newProblem(positionOfToken(file, t), problem.Syntax, hint, format, args...)
		return &mistake
	}
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			open = append(open, t)
		case token.MappingEndType, token.SequenceEndType:
			if len(open) == 0 {
				return found(t, fmt.Sprintf("quote strings that contain %s", t.Value), "%s has no opening bracket", t.Value)
			}
			last := open[len(open)-1]
			if want := closing[last.Value]; t.Value != want {
				return found(t, "write "+want, "%s does not match %s on line %d", t.Value, last.Value, last.Position.Line)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return nil
	}
	last := open[len(open)-1]
	return found(last, "write "+closing[last.Value]+" at the end", "%s is not closed", last.Value)
}
