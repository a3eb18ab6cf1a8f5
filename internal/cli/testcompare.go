package cli

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// unequal is a difference between an expected value and an actual value. The zero value of unequal
// means that the values are equal.
type unequal struct {
	text string
	// pointer is a JSON Pointer to the expected value.
	pointer string
}

// mismatch returns the first difference between an expected value and an actual value. An actual
// object can have more members than the expected object.
func mismatch(where string, want, got any) unequal {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return mismatchOfObjects(where, w, g)
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			if found := mismatch(fmt.Sprintf("%s[%d]", where, i), w[i], g[i]); found.text != "" {
				return unequal{found.text, "/" + strconv.Itoa(i) + found.pointer}
			}
		}
		return unequal{}
	}
	if reflect.DeepEqual(want, got) || sameNumber(want, got) {
		return unequal{}
	}
	return unequal{text: fmt.Sprintf("%s is %s; want %s", where, compactJSON(got), compactJSON(want))}
}

// sameNumber reports whether two values are the same number in different notations, such as 3 and
// 3.0.
func sameNumber(want, got any) bool {
	w, isNumber := want.(json.Number)
	g, areNumbers := got.(json.Number)
	if !isNumber || !areNumbers {
		return false
	}
	a, errA := w.Float64()
	b, errB := g.Float64()
	return errA == nil && errB == nil && a == b
}

func mismatchOfObjects(where string, want, got map[string]any) unequal {
	for _, name := range sortedNames(want) {
		at := "/" + pointerEscapes.Replace(name)
		value, ok := got[name]
		if !ok {
			return unequal{fmt.Sprintf("%s.%s is missing; want %s", where, name, compactJSON(want[name])), at}
		}
		if found := mismatch(where+"."+name, want[name], value); found.text != "" {
			return unequal{found.text, at + found.pointer}
		}
	}
	return unequal{}
}

// compactJSON returns a value as JSON text. A long text is truncated.
func compactJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return shortValue(text)
}
