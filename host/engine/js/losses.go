package js

import (
	"fmt"
	"slices"

	"github.com/dop251/goja"
)

// maxLosses bounds the warnings about one output.
const maxLosses = 5

// losses are the values of an output that JSON cannot hold and that were written as JSON.stringify writes them.
type losses struct {
	first []loss
	more  int
}

// loss is one such value: where it is and what became of it.
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

// warnings reports the losses to the author of the tool.
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

// omits reports whether a value is left out of the output: a function or a symbol, in a lossy encoding.
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
	e.losses.add(e.path, what+", which JSON cannot hold: it was left out")
	return true
}

// noNumber writes null in place of a number that JSON cannot hold, or refuses it.
func (e *encoder) noNumber(what string) *refusal {
	if !e.bounds.lossy {
		return refuse(what + "; use null")
	}
	e.losses.add(e.path, what+", which JSON cannot hold: it was written as null")
	e.out = append(e.out, "null"...)
	return nil
}
