package js

import (
	"fmt"
	"slices"

	"github.com/dop251/goja"
)

// maxLosses is the maximum number of warnings about values that an output has lost.
const maxLosses = 5

// losses contains the values of an output that JSON cannot represent. Such values are encoded as
// JSON.stringify encodes them.
type losses struct {
	first []loss
	more  int
}

// loss describes a value that JSON cannot represent. It contains the path of this value and its
// replacement.
type loss struct {
	path []step
	what string
}

func (l *losses) add(path []step, what string) {
	if len(l.first) == maxLosses {
		l.more++
		return
	}
	l.first = append(l.first, loss{slices.Clone(path), what})
}

// warnings returns the losses as warnings. The warnings are for the author of the tool.
func (l *losses) warnings(root string) []string {
	var list []string
	for _, one := range l.first {
		list = append(list, pathText(root, one.path)+" "+one.what)
	}
	if l.more > 0 {
		list = append(list, fmt.Sprintf("%d more values of the %s have no JSON representation", l.more, root))
	}
	return list
}

// omits reports whether the encoding omits the given value. A lossy encoding omits functions and
// symbols.
func (e *encoder) omits(v goja.Value) bool {
	if !e.bounds.lossy {
		return false
	}
	what := "is a function"
	switch v := v.(type) {
	case *goja.Symbol:
		what = "is a symbol"
	case *goja.Object:
		if !isCallable(v) {
			return false
		}
	default:
		return false
	}
	e.losses.add(e.path, what+" and was omitted because it has no JSON representation")
	return true
}

// nonFinite handles a number that JSON cannot represent. It rejects the number, or encodes the
// number as null.
func (e *encoder) nonFinite(what string) *encodeError {
	if !e.bounds.lossy {
		return notEncodable(what + "; use null")
	}
	e.losses.add(e.path, what+" and was replaced by null because it has no JSON representation")
	e.out = append(e.out, "null"...)
	return nil
}
