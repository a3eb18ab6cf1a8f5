package bytesize_test

import (
	"testing"

	"github.com/toolrun/toolrun/internal/bytesize"
)

func TestSizes(t *testing.T) {
	for bytes, text := range map[int64]string{
		1 << 30: "1GiB", 64 << 20: "64MiB", 1025 << 10: "1025KiB", 3_000_000: "3MB", 500_000: "500kB",
	} {
		if got := bytesize.Format(bytes); got != text {
			t.Errorf("Format(%d) = %s; want %s", bytes, got, text)
		}
		if got, ok := bytesize.Parse(text); !ok || got != bytes {
			t.Errorf("Parse(%s) = %d, %t; want %d", text, got, ok, bytes)
		}
	}
	for bytes, text := range map[int64]string{0: "0 bytes", 1025: "1025 bytes"} {
		if got := bytesize.Format(bytes); got != text {
			t.Errorf("Format(%d) = %s; want %s", bytes, got, text)
		}
	}
	for _, text := range []string{"", "64", "64 MiB", "0KiB", "-1KiB", "1TiB", "1mib", "123456789KiB"} {
		if got, ok := bytesize.Parse(text); ok {
			t.Errorf("Parse(%s) = %d; want none", text, got)
		}
	}
}
