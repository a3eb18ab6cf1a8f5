// Package property expands the Unicode properties in JavaScript regular expressions, \p{...} and
// \P{...}, to character classes. The package is useful with a regexp engine that does not support
// properties. The package also rejects invalid syntax that goja accepts.
package property

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strconv"
	"strings"
	"sync"
)

//go:generate node generate.mjs

//go:embed properties.txt.gz
var packed []byte

// lines maps the names of properties to packed ranges. A property can have several names. For
// example, the name of Script=Greek is "sc=Greek".
var lines = sync.OnceValue(func() map[string]string {
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		panic(err)
	}
	byName := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		names, ranges, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		for name := range strings.FieldsSeq(names) {
			byName[name] = ranges
		}
	}
	return byName
})

// prefixes maps the names of the properties that have values, as in Script=Greek, to the prefixes
// of their lines.
var prefixes = map[string]string{
	"General_Category": "gc=", "gc": "gc=",
	"Script": "sc=", "sc": "sc=",
	"Script_Extensions": "scx=", "scx": "scx=",
}

// find returns the packed ranges of a property. The argument is the text between the braces of
// \p{...}.
func find(name string) (ranges string, ok bool) {
	if property, value, valued := strings.Cut(name, "="); valued {
		prefix, known := prefixes[property]
		if !known || strings.Contains(value, "=") {
			return "", false
		}
		ranges, ok = lines()[prefix+value]
		return ranges, ok
	}
	if strings.Contains(name, "#") {
		return "", false
	}
	if ranges, ok = lines()["gc="+name]; ok {
		return ranges, true
	}
	ranges, ok = lines()[name]
	return ranges, ok
}

const lastPoint = 0x10FFFF

// classes caches the results of classOf. The cache has fewer than a thousand entries.
var classes sync.Map

// classOf returns the content of a character class. The class matches a property, or the complement
// of a property.
func classOf(name string, negated bool) (string, bool) {
	key := name
	if negated {
		key = "^" + name
	}
	if class, ok := classes.Load(key); ok {
		return class.(string), true
	}
	packed, ok := find(name)
	if !ok {
		return "", false
	}
	var b strings.Builder
	next := 0 // the code point after the end of the last range
	at := 0
	numbers := strings.Fields(packed)
	for i := 0; i+1 < len(numbers); i += 2 {
		skip, _ := strconv.ParseInt(numbers[i], 36, 32)
		more, _ := strconv.ParseInt(numbers[i+1], 36, 32)
		first := at + int(skip)
		at = first + int(more)
		switch {
		case !negated:
			writeRange(&b, first, at)
		case first > next:
			writeRange(&b, next, first-1)
		}
		next = at + 1
	}
	if negated && next <= lastPoint {
		writeRange(&b, next, lastPoint)
	}
	classes.Store(key, b.String())
	return b.String(), true
}

func writeRange(b *strings.Builder, first, last int) {
	writePoint(b, first)
	if last > first {
		b.WriteByte('-')
		writePoint(b, last)
	}
}

func writePoint(b *strings.Builder, point int) {
	b.WriteString(`\u{`)
	b.WriteString(strconv.FormatInt(int64(point), 16))
	b.WriteByte('}')
}
