// Command generate writes the data of package intl. The data comes from Unicode CLDR:
//
//	go run ./host/engine/js/internal/intl/generate -out host/engine/js/internal/intl/cldr.bin /tmp/cldr/node_modules
//
// Without a folder as an argument, the command uses npm to download the packages.
package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
)

// packages contains the npm packages with the data of CLDR 48.1. ICU 78.2 in Node 20 uses CLDR
// 48.1. Some npm packages were not published in version 48.1.
var packages = []string{"cldr-core@48.1.0", "cldr-dates-full@48.1.0", "cldr-numbers-full@48.1.0", "cldr-misc-full@48.1.0",
	"cldr-units-full@48.0.0", "cldr-bcp47@48.2.0"}

func main() {
	out := flag.String("out", "cldr.bin", "the file to write")
	flag.Parse()
	if err := generate(flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(folder, out string) error {
	if folder == "" {
		fetched, err := fetch()
		if err != nil {
			return err
		}
		defer os.RemoveAll(fetched)
		folder = fetched + "/node_modules"
	}
	s := &source{folder: folder}
	locales := s.locales()
	tables := map[string]table{"": s.supplemental(locales)}
	for _, name := range locales {
		tables[name] = s.locale(name)
	}
	s.inherit(tables)
	if s.err != nil {
		return s.err
	}
	return os.WriteFile(out, pack(tables), 0o644)
}

func fetch() (string, error) {
	folder, err := os.MkdirTemp("", "cldr")
	if err != nil {
		return "", err
	}
	args := []string{"install", "--legacy-peer-deps", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder}
	args = append(args, packages...)
	npm := exec.Command("npm", args...)
	npm.Stderr = os.Stderr
	return folder, npm.Run()
}

// table contains the data of a locale. The keys are paths.
type table map[string]string

// pack encodes the tables. The result contains the compressed paths, an index of the tables, and
// the tables. Each table is compressed separately, so a process decompresses only the tables that
// it uses.
func pack(tables map[string]table) []byte {
	used := map[string]int{}
	for _, t := range tables {
		for path := range t {
			used[path] = 0
		}
	}
	paths := slices.Sorted(maps.Keys(used))
	var keys bytes.Buffer
	before := ""
	for i, path := range paths {
		used[path] = i
		n := commonPrefix(before, path)
		writeUvarint(&keys, n)
		writeUvarint(&keys, len(path)-n)
		keys.WriteString(path[n:])
		before = path
	}
	var index, body bytes.Buffer
	names := slices.Sorted(maps.Keys(tables))
	writeUvarint(&index, len(names))
	for _, name := range names {
		chunk := deflate(encode(tables[name], used))
		writeUvarint(&index, len(name))
		index.WriteString(name)
		writeUvarint(&index, len(chunk))
		body.Write(chunk)
	}
	var out bytes.Buffer
	writeUvarint(&out, len(paths))
	packed := deflate(keys.Bytes())
	writeUvarint(&out, len(packed))
	out.Write(packed)
	out.Write(index.Bytes())
	out.Write(body.Bytes())
	return out.Bytes()
}

// encode encodes a table in columns, because columns compress better than rows. The columns contain
// the distances between paths, the lengths of values, and the values.
func encode(t table, number map[string]int) []byte {
	paths := slices.SortedFunc(maps.Keys(t), func(a, b string) int { return number[a] - number[b] })
	var out, values bytes.Buffer
	writeUvarint(&out, len(paths))
	last := 0
	for _, path := range paths {
		writeUvarint(&out, number[path]-last)
		last = number[path]
	}
	for _, path := range paths {
		writeUvarint(&out, len(t[path]))
		values.WriteString(t[path])
	}
	out.Write(values.Bytes())
	return out.Bytes()
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func writeUvarint(b *bytes.Buffer, n int) { b.Write(binary.AppendUvarint(nil, uint64(n))) }

func deflate(data []byte) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}
