package binary_test

import (
	"errors"
	"os"
	"testing"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// FuzzParse checks that Parse returns either a consistent module or an *Error with an offset in the
// data.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head))
	f.Add([]byte("\x00asm\x0d\x00\x01\x00"))
	f.Add([]byte(function("\x01" + huge + "\x7f\x0b")))
	f.Add([]byte(function("\x00\x41\x00\x0e\x02\x00\x00\x00\x0b")))
	for _, file := range suiteModules(f) {
		if wasm, err := os.ReadFile(file); err == nil && len(wasm) < 1<<10 {
			f.Add(wasm)
		}
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		m, err := binary.Parse(wasm, binary.Limits{})
		if err == nil {
			checkModule(t, wasm, m)
			return
		}
		e, ok := errors.AsType[*binary.Error](err)
		if !ok || e.Offset < 0 || e.Offset > len(wasm) || e.Message == "" {
			t.Errorf("Parse = %#v; want an *Error with a message and an offset of at most %d", err, len(wasm))
		}
	})
}
