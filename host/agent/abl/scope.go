package abl

import "strings"

// Scope resolves the names of expressions.
type Scope interface {
	// Lookup searches for the longest prefix of path that has a value in the scope. Lookup returns
	// this value and the number of names in the prefix. If no prefix of the path is set, the
	// returned number of names is 0. If err is not nil, the evaluation ends with err.
	Lookup(path []string) (value any, names int, err error)
}

// Variables is a Scope of values by name. A name can be a dotted path, such as "user.language".
type Variables map[string]any

// Lookup implements Scope.
func (v Variables) Lookup(path []string) (any, int, error) {
	for n := len(path); n > 1; n-- {
		if value, ok := v[strings.Join(path[:n], ".")]; ok {
			return value, n, nil
		}
	}
	if value, ok := v[path[0]]; ok {
		return value, 1, nil
	}
	return nil, 0, nil
}
