package engine

import "fmt"

// FormatSize formats a number of bytes in the way that app files use, such as 64MiB. If the number
// is not a multiple of a unit, the result has the form "1025 bytes".
func FormatSize(bytes int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if bytes > 0 && bytes%u.size == 0 {
			return fmt.Sprintf("%d%s", bytes/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}
