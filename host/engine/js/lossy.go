package js

import (
	"fmt"
	"slices"

	"github.com/dop251/goja"
)

// maxLosses is the maximum number of warnings about an output.
const maxLosses = 5

// losses contains the values of an output that JSON cannot represent and that were encoded as
// JSON.stringify encodes them.
type losses struct {
	first []loss
	more  int
}

// loss contains the path of a value that JSON cannot represent, and the replacement of the value.
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

// warnings returns the losses as warnings for the author of the tool.
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

// omits reports whether a lossy encoding omits a value because it is a function or a symbol.
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

// nonFinite handles a number that JSON cannot represent. nonFinite encodes the number as null or
// rejects it.
func (e *encoder) nonFinite(what string) *encodeError {
	if !e.bounds.lossy {
		return notEncodable(what + "; use null")
	}
	e.losses.add(e.path, what+" and was replaced by null because it has no JSON representation")
	e.out = append(e.out, "null"...)
	return nil
}
