package abl

import (
	"bytes"
	"encoding/json"
	"strings"
)

// text converts a value to text. For null and undefined, the text is "". For an array or an object,
// the text is compact JSON.
func (ev *evaluator) text(v any) (string, error) {
	if s, ok := scalarText(v); ok {
		return s, ev.charge(len(s)/64 + formatCost(v))
	}
	w := jsonWriter{ev: ev}
	if err := w.write(v, 0); err != nil {
		return "", err
	}
	return w.out.String(), nil
}

// jsonWriter writes a value as compact JSON. The keys of objects are sorted.
type jsonWriter struct {
	ev  *evaluator
	out strings.Builder
}

func (w *jsonWriter) write(v any, depth int) error {
	if depth > maxValueDepth {
		return ErrTooDeep
	}
	if w.out.Len() > 4*MaxTextChars { // a character has at most 4 bytes
		return ErrTooLong
	}
	if err := w.ev.charge(1); err != nil {
		return err
	}
	switch v := v.(type) {
	case []any:
		return w.array(v, depth)
	case map[string]any:
		return w.object(v, depth)
	case string:
		writeJSON(&w.out, v)
		return w.ev.charge(len(v) / 32)
	case nil, Undefined:
		w.out.WriteString("null")
	default:
		s, _ := scalarText(v)
		w.out.WriteString(s)
		return w.ev.charge(formatCost(v))
	}
	return nil
}

func (w *jsonWriter) array(items []any, depth int) error {
	w.out.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			w.out.WriteByte(',')
		}
		if err := w.write(item, depth+1); err != nil {
			return err
		}
	}
	w.out.WriteByte(']')
	return nil
}

func (w *jsonWriter) object(m map[string]any, depth int) error {
	if err := w.ev.charge(sortCost(len(m))); err != nil {
		return err
	}
	w.out.WriteByte('{')
	for i, key := range sortedKeys(m) {
		if i > 0 {
			w.out.WriteByte(',')
		}
		writeJSON(&w.out, key)
		w.out.WriteByte(':')
		if err := w.write(m[key], depth+1); err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	return nil
}

// formatCost returns the cost, in steps, of converting a scalar to text.
func formatCost(v any) int {
	if _, ok := v.(float64); ok {
		return 1
	}
	return 0
}

// writeJSON writes a JSON string. writeJSON does not escape the special characters of HTML.
func writeJSON(out *strings.Builder, s string) {
	if isPlain(s) {
		out.WriteByte('"')
		out.WriteString(s)
		out.WriteByte('"')
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // encoding a string never fails
	out.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// isPlain reports whether a text contains only printable ASCII characters that need no escape
// sequences in JSON.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
