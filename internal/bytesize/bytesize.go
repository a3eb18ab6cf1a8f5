// Package bytesize parses and formats sizes with units, such as 64MiB and 500kB.
package bytesize

import (
	"strconv"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

var sizeRule = lazyregexp.New(`^([1-9][0-9]{0,7})(KiB|MiB|GiB|kB|MB|GB)$`)

var sizeUnits = []struct {
	name string
	unit int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}}

// Parse parses a size. A size consists of a number and a unit, such as 64MiB or 500kB. If the text
// is not a size, the second result is false.
func Parse(text string) (bytes int64, ok bool) {
	m := sizeRule().FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	count, err := strconv.ParseInt(m[1], 10, 64)
	for _, u := range sizeUnits {
		if u.name == m[2] && err == nil {
			return count * u.unit, true // eight digits with the unit GiB do not overflow an int64
		}
	}
	return 0, false
}

// Format formats a size in the syntax of Parse. If a size is not a multiple of a unit, it is
// formatted like "1025 bytes".
func Format(bytes int64) string {
	for _, u := range sizeUnits {
		if bytes > 0 && bytes%u.unit == 0 {
			return strconv.FormatInt(bytes/u.unit, 10) + u.name
		}
	}
	return strconv.FormatInt(bytes, 10) + " bytes"
}
