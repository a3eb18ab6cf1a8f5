package abl

import "strings"

// Scope resolves the names in expressions.
type Scope interface {
	// Lookup searches for a prefix of the argument "path" that has a value in the scope. If there
	// are several, the longest prefix is used. Lookup returns the value of the prefix, and the
	// number of names in the prefix. If no prefix of the path has a value, the returned number of
	// names is 0. If Lookup returns an error, the evaluation ends with this error.
	Lookup(path []string) (value any, names int, err error)
}

// Variables is a Scope. The keys are names, and the values are the values of these names. A name
// can contain dots, such as "user.language".
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
