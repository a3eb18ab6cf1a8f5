package intl

import (
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"sync"
)

// packed is the output of the command generate. packed contains the paths of all texts, followed by
// one table for each locale. A table maps paths to texts. Because packed is a string, the operating
// system loads the data only when the program reads the string.
//
//go:embed cldr.bin
var packed string

// archive is the index of the data in the variable "packed".
type archive struct {
	paths  []string // the sorted paths; tables refer to a path by its index
	chunks map[string]*chunk
}

// chunk is a compressed table of the archive. The table is decompressed when it is first used.
type chunk struct {
	packed string
	once   sync.Once
	table  *table
}

// table contains the texts of a locale. table omits texts that are equal in the parent locale.
type table struct {
	numbers []uint32 // the indexes of the paths, sorted
	ends    []uint32 // for each path, the end of its text in values
	values  string
	parent  *table
}

var data = sync.OnceValue(func() *archive {
	r := &reader{text: packed}
	count := r.uvarint()
	keys := &reader{text: inflate(r.take(r.uvarint()))}
	a := &archive{paths: make([]string, 0, count), chunks: map[string]*chunk{}}
	last := ""
	for range count {
		last = last[:keys.uvarint()] + keys.take(keys.uvarint())
		a.paths = append(a.paths, last)
	}
	type entry struct {
		name string
		size int
	}
	entries := make([]entry, r.uvarint())
	for i := range entries {
		entries[i].name = r.take(r.uvarint())
		entries[i].size = r.uvarint()
	}
	for _, e := range entries {
		a.chunks[e.name] = &chunk{packed: r.take(e.size)}
	}
	return a
})

// tableOf returns the table of a locale in the archive, or nil. The table "" contains data that
// does not belong to a locale.
func tableOf(name string) *table {
	a := data()
	c := a.chunks[name]
	if c == nil {
		return nil
	}
	c.once.Do(func() {
		r := &reader{text: inflate(c.packed)}
		count := r.uvarint()
		t := &table{numbers: make([]uint32, count), ends: make([]uint32, count)}
		number, end := 0, 0
		for i := range count {
			number += r.uvarint()
			t.numbers[i] = uint32(number)
		}
		for i := range count {
			end += r.uvarint()
			t.ends[i] = uint32(end)
		}
		t.values = r.text
		if parent, ok := t.own("parent"); ok {
			t.parent = tableOf(parent)
		}
		c.table = t
	})
	return c.table
}

// get returns the text at a path, or "".
func (t *table) get(path string) string {
	number, ok := slices.BinarySearch(data().paths, path)
	if !ok {
		return ""
	}
	for ; t != nil; t = t.parent {
		if value, ok := t.at(uint32(number)); ok {
			return value
		}
	}
	return ""
}

// own returns the text at a path. The method ignores the tables of parent locales.
func (t *table) own(path string) (string, bool) {
	number, ok := slices.BinarySearch(data().paths, path)
	if !ok {
		return "", false
	}
	return t.at(uint32(number))
}

func (t *table) at(number uint32) (string, bool) {
	i, ok := slices.BinarySearch(t.numbers, number)
	if !ok {
		return "", false
	}
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.values[start:t.ends[i]], true
}

// The method "each" calls the function "use" for each text below a path. The path must end in a
// slash. The calls are in the order of the names of the texts.
func (t *table) each(path string, use func(name, value string)) {
	paths := data().paths
	first, _ := slices.BinarySearch(paths, path)
	for number := first; number < len(paths) && strings.HasPrefix(paths[number], path); number++ {
		for in := t; in != nil; in = in.parent {
			if value, ok := in.at(uint32(number)); ok {
				if value != "" {
					use(paths[number][len(path):], value)
				}
				break
			}
		}
	}
}

// eachOwn works like the method "each", but ignores the tables of parent locales.
func (t *table) eachOwn(path string, use func(name, value string)) {
	own := *t
	own.parent = nil
	own.each(path, use)
}

// supplemental returns the text at a path in the data that does not belong to a locale.
func supplemental(path string) string { return tableOf("").get(path) }

// reader decodes the embedded data. The data is trusted, so reader does not check it.
type reader struct{ text string }

func (r *reader) uvarint() int {
	var buffer [binary.MaxVarintLen64]byte
	value, n := binary.Uvarint(buffer[:copy(buffer[:], r.text)])
	r.text = r.text[n:]
	return int(value)
}

func (r *reader) take(n int) string {
	taken := r.text[:n]
	r.text = r.text[n:]
	return taken
}

func inflate(text string) string {
	var b strings.Builder
	if _, err := io.Copy(&b, flate.NewReader(strings.NewReader(text))); err != nil {
		panic(err)
	}
	return b.String()
}
