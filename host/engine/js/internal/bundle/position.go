package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// location is a position in the author's files. Lines and columns count from 1; the value 0 means
// that the line or column is unknown. Columns count UTF-16 code units.
type location struct {
	file   string
	line   int
	column int
}

func (p location) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column)
}

// The type author is a function that maps a position in a source that esbuild read to a position in
// the author's files. For generated text, the function returns false.
type author func(source string, line, column int) (location, bool)

// locationOf maps a location that esbuild reported to a position in the author's files.
func locationOf(l *api.Location, find author) (location, bool) {
	if l == nil {
		return location{}, false
	}
	return find(l.File, l.Line, units(l.LineText[:min(l.Column, len(l.LineText))])+1)
}

// positions is a decoded source map. positions maps positions in generated code to positions in the
// author's files. positions is immutable.
type positions struct {
	lines [][]mapping // for each line, its mappings sorted by column
}

// mapping contains the origin of the code that begins at a column. If the code was generated, the
// location contains no file.
type mapping struct {
	column   int // counts from 0
	location location
}

// find returns the position in the author's files for a line and column of generated code. Lines
// and columns count from 1.
func (p positions) find(line, column int) (location, bool) {
	if line < 1 || line > len(p.lines) {
		return location{}, false
	}
	row := p.lines[line-1]
	i, exact := slices.BinarySearchFunc(row, column-1, func(m mapping, c int) int { return m.column - c })
	if !exact {
		i--
	}
	if i < 0 || row[i].location.file == "" {
		return location{}, false
	}
	return row[i].location, true
}

var errSourceMap = errors.New("malformed source map")

// decodePositions decodes a source map (version 3). The source map contains esbuild's names for the
// sources. decodePositions calls the function "find" for each position, so that the result contains
// the author's file names instead.
func decodePositions(sourceMap []byte, find author) (positions, error) {
	var m struct {
		Sources  []string `json:"sources"`
		Mappings string   `json:"mappings"`
	}
	if err := json.Unmarshal(sourceMap, &m); err != nil {
		return positions{}, err
	}
	var p positions
	var source, line, column int // segments contain only the differences
	for row := range strings.SplitSeq(m.Mappings, ";") {
		var mappings []mapping
		generated := 0
		for segment := range strings.SplitSeq(row, ",") {
			fields, err := decodeSegment(segment)
			if err != nil {
				return positions{}, err
			}
			generated += fields[0]
			source, line, column = source+fields[1], line+fields[2], column+fields[3]
			if segment == "" {
				continue
			}
			if source < 0 || source >= len(m.Sources) {
				return positions{}, errSourceMap
			}
			at, _ := find(m.Sources[source], line+1, column+1)
			mappings = append(mappings, mapping{generated, at})
		}
		p.lines = append(p.lines, mappings)
	}
	return p, nil
}

// decodeSegment decodes up to five base64 VLQ numbers. The first number is the column. The other
// numbers describe the origin: source, line, column and name.
func decodeSegment(s string) (fields [5]int, err error) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	n, value, shift := 0, 0, 0
	for i := 0; i < len(s); i++ {
		digit := strings.IndexByte(digits, s[i])
		if digit < 0 || n == len(fields) || shift > 30 {
			return fields, errSourceMap
		}
		value |= digit & 31 << shift
		if shift += 5; digit&32 != 0 {
			continue
		}
		fields[n] = value >> 1
		if value&1 != 0 {
			fields[n] = -fields[n]
		}
		n, value, shift = n+1, 0, 0
	}
	return fields, nil
}
