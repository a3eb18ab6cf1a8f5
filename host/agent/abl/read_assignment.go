package abl

import (
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

var (
	// fixedIndex matches an index that is a number. targetNames matches a target that has no
	// indexes.
	fixedIndex  = lazyregexp.New(`^\d{1,6}$`)
	targetNames = lazyregexp.New(`^[\pL_][\pL\p{Nd}_.]*$`)
)

// readAssignment reads an assignment in the form NAME = VALUE. The name in an assignment is a path.
// The path can contain indexes.
func readAssignment(r *reader, text Text) Assignment {
	equals := equalsSign(text.Value)
	target := text
	target.Value = strings.TrimRight(text.Value[:max(equals, 0)], " \t")
	plain, parts, ok := splitIndexes(target)
	if !ok || !targetNames().MatchString(plain) {
		r.errorf(text.Position, problem.Syntax, "write `name = value`", "the text %s is not an assignment", problem.Quote(text.Value))
		return Assignment{}
	}
	value := text
	offset := equals + 1
	offset += len(text.Value[offset:]) - len(strings.TrimLeft(text.Value[offset:], " \t"))
	value.Position, value.Value = text.at(offset), text.Value[offset:]
	a := Assignment{Target: r.pathOf(Text{Position: text.Position, Value: plain}, "a variable")}
	if a.Target.Value != "" {
		readIndexes(r, &a, parts)
	}
	a.Value = r.expressionOf(value)
	return a
}

// equalsSign returns the offset of the "=" that separates a target from its value. If no such
// "=" exists, the result is -1.
func equalsSign(s string) int {
	found, depth := -1, 0
	scanQuoted(s, func(i int) bool {
		switch s[i] {
		case '[':
			depth++
		case ']':
			depth--
		case '=':
			if depth == 0 {
				found = i
			}
		}
		return found < 0
	})
	if found >= 0 && strings.HasPrefix(s[found:], "==") {
		return -1
	}
	return found
}

// readIndexes converts the parts of an assignment's target to the path and the computed indexes of
// the assignment.
func readIndexes(r *reader, a *Assignment, parts []targetPart) {
	var names []string
	for _, part := range parts {
		switch {
		case !part.isIndex:
			names = append(names, strings.Split(strings.TrimPrefix(part.Value, "."), ".")...)
		case fixedIndex().MatchString(part.Value):
			names = append(names, part.Value)
		default:
			a.Indexes = append(a.Indexes, Index{Name: len(names), Value: r.expressionOf(part.Text)})
			names = append(names, ComputedIndex)
		}
	}
	a.Target.Value = strings.Join(names, ".")
}

// targetPart is a part of the target of an assignment. The part consists of names, or is the text
// of an index.
type targetPart struct {
	Text
	isIndex bool
}

// splitIndexes returns a target without its indexes. splitIndexes also returns the parts of the
// target. The result "closed" is false if a bracket is not closed, or if a name follows an index
// without a dot between them.
func splitIndexes(text Text) (plain string, parts []targetPart, closed bool) {
	rest, closed := text.Value, true
	for offset := 0; rest != ""; offset = len(text.Value) - len(rest) {
		names, _, found := strings.Cut(rest, "[")
		if offset > 0 && names != "" && names[0] != '.' {
			return "", nil, false
		}
		if names != "" {
			parts = append(parts, targetPart{Text{Position: text.at(offset), Value: names}, false})
			plain += names
		}
		if !found {
			return plain, parts, true
		}
		end := closingBracket(rest[len(names):])
		if end < 0 || plain == "" {
			return "", nil, false
		}
		inner := rest[len(names)+1 : len(names)+end]
		trimmed := strings.TrimLeft(inner, " \t")
		at := text.at(offset + len(names) + 1 + len(inner) - len(trimmed))
		parts = append(parts, targetPart{Text{Position: at, Value: strings.TrimRight(trimmed, " \t")}, true})
		rest = rest[len(names)+end+1:]
	}
	return plain, parts, true
}

// closingBracket returns the offset of the bracket that closes the bracket at the start of a text.
// If the bracket is not closed, the result is -1.
func closingBracket(s string) int {
	end, depth := -1, 0
	scanQuoted(s, func(i int) bool {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				end = i
			}
		}
		return end < 0
	})
	return end
}
