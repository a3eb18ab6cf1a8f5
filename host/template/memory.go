package template

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/internal/strictjson"
)

// outermost returns the paths that are not nested in another path, in sorted order. If one of the
// paths is the whole content, outermost returns nil.
func outermost(paths []string) []string {
	// In the sort order, the dot must come before every other character. If the dot comes first, a
	// field comes directly before the fields that are nested in it.
	key := func(path string) string { return strings.ReplaceAll(path, ".", "\x00") }
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(key(a), key(b)) })
	if paths[0] == "" {
		return nil
	}
	kept := paths[:1]
	for _, path := range paths[1:] {
		if last := kept[len(kept)-1]; path != last && !strings.HasPrefix(path, last+".") {
			kept = append(kept, path)
		}
	}
	return kept
}

// memoryRef is the expression memory.<store>.<path>.
type memoryRef struct {
	store        string
	path         []string
	line, column int
}

func (m memoryRef) render(r *renderer) error {
	content, err := r.content(m.store)
	if err != nil {
		return err
	}
	return r.writeValue(lookup(content, m.path), m.String)
}

// writeValue writes the value of an expression. If the expression has no value, writeValue records
// the text of the expression as missing.
func (r *renderer) writeValue(value any, expression func() string) error {
	if value == nil {
		r.miss(expression())
	}
	text, err := textOf(value)
	if err != nil {
		return err
	}
	return r.write(text)
}

// String returns the expression in the notation of templates.
func (m memoryRef) String() string {
	return "memory." + m.store + pathText(m.path)
}

// pathText returns the steps of a path in the notation of templates.
func pathText(path []string) (text string) {
	for _, step := range path {
		switch {
		case plainStep(step):
			text += "." + step
		case isIndex(step):
			text += "[" + step + "]"
		default:
			text += "[" + strconv.Quote(step) + "]"
		}
	}
	return text
}

// plainStep reports whether a step of a path can be written after a dot.
func plainStep(step string) bool {
	p := parser{text: step}
	return step != "" && p.name() == step && !isIndex(step)
}

func isIndex(step string) bool {
	return step != "" && strings.Trim(step, "0123456789") == ""
}

// maxProjection is the maximum number of steps of a path in a projection. Package memory rejects
// projections with much longer paths.
const maxProjection = 32

// projection returns the longest prefix of the path that a projection can contain. A projection
// cannot contain indexes, names with a dot or a backslash, or names that look like operators.
func (m memoryRef) projection() string {
	end := slices.IndexFunc(m.path, func(step string) bool {
		return step == "" || strings.ContainsAny(step, `.\`) || step[0] == '$' || step[0] >= '0' && step[0] <= '9'
	})
	if end < 0 {
		end = len(m.path)
	}
	return strings.Join(m.path[:min(end, maxProjection)], ".")
}

// lookup follows a path. A step into an object is a name, and a step into an array is an index. If
// the path does not exist, the result is nil.
func lookup(value any, path []string) any {
	for _, step := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != step {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// textOf returns the text of a rendered value.
func textOf(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	}
	text, err := strictjson.Encode(value)
	return string(text), err
}
