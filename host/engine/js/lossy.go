package js

import (
	"fmt"
	"slices"

	"github.com/dop251/goja"
)

// maxLosses bounds the warnings about an output.
const maxLosses = 5

// losses are the values of an output that JSON cannot represent and that were encoded as
// JSON.stringify does.
type losses struct {
	first []loss
	more  int
}

// loss is one of them: its path and its replacement.
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
		list = append(list, fmt.Sprintf("%d more values of the %s are not JSON", l.more, root))
	}
	return list
}

// omits reports whether a lossy encoding omits a value: a function or a symbol.
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
	e.losses.add(e.path, what+", which JSON cannot represent: it was omitted")
	return true
}

// nonFinite encodes a number that JSON cannot represent as null, or rejects it.
func (e *encoder) nonFinite(what string) *encodeError {
	if !e.bounds.lossy {
		return notEncodable(what + "; use null")
	}
	e.losses.add(e.path, what+", which JSON cannot represent: it was replaced by null")
	e.out = append(e.out, "null"...)
	return nil
}
