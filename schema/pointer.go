package schema

import (
	"net/url"
	"strconv"
	"strings"
)

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// join returns the JSON Pointer to a member of the value at pointer.
func join(pointer, token string) string { return pointer + "/" + escaper.Replace(token) }

// joinIndex returns the JSON Pointer to an element of the value at pointer.
func joinIndex(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }

// tokens splits a JSON Pointer into names and indexes. tokens returns false for an invalid pointer.
func tokens(pointer string) ([]string, bool) {
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	parts := strings.Split(pointer[1:], "/")
	for i, part := range parts {
		parts[i] = unescaper.Replace(part)
	}
	return parts, true
}

// lookup returns the value at pointer in doc and reports whether it exists.
func lookup(doc any, pointer string) (any, bool) {
	path, ok := tokens(pointer)
	if !ok {
		return nil, false
	}
	for _, token := range path {
		switch value := doc.(type) {
		case map[string]any:
			if doc, ok = value[token]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(value) || strconv.Itoa(i) != token {
				return nil, false
			}
			doc = value[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// fragmentPointer decodes the fragment of a URL into a JSON Pointer.
func fragmentPointer(fragment string) (string, bool) {
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return "", false
	}
	_, ok := tokens(pointer)
	return pointer, ok
}

// pointerFragment encodes a JSON Pointer as the fragment of a URL, with the same escapes as the
// library.
func pointerFragment(pointer string) string {
	parts := strings.Split(pointer, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}
