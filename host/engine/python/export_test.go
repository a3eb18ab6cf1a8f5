package python

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// WithFullStarts has every run start an interpreter of its own, as where the picture of one does not work.
func WithFullStarts() Option { return func(e *Engine) { e.full = true } }

// Fresh returns the memory and the globals of an instance that the next run of a program would get.
func Fresh(loaded engine.Program) (memory []byte, globals []uint64, err error) {
	p := loaded.(*program)
	image := p.loaded
	if p.topLevel != nil && p.topLevel.started != nil {
		image = p.topLevel.started
	}
	in, err := image.Restore(background, nil)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close(background)
	all := in.Guest().Memory()
	view, _ := all.Read(0, all.Size())
	for _, global := range in.Globals() {
		globals = append(globals, global.Get())
	}
	return append([]byte(nil), view...), globals, nil
}

var background = context.Background()

// Tried reports what the engine's own test of its interpreter says, where the function to call is so much further on in
// the table than it is.
func Tried(e *Engine, shift uint32) error {
	i := *e.interpreter
	i.entry.Slot += shift
	return i.answers(background)
}

// ShrinkStack leaves so many bytes of the stack that C runs on, for the tools that are loaded from then on.
func ShrinkStack(e *Engine, bytes uint32) {
	e.interpreter.entry.Limit = e.interpreter.entry.Stack - bytes
}

// RanOnce reports whether the top level of a tool ran for all runs.
func RanOnce(loaded engine.Program) bool {
	s := loaded.(*program).topLevel
	return s != nil && s.started != nil
}

// RewriteVersion is the version of what is done to an interpreter before it is compiled.
const RewriteVersion = rewriteVersion

// Rewrite does it.
func Rewrite(code []byte) ([]byte, error) {
	m, err := rewrite(code)
	if err != nil {
		return nil, err
	}
	return m.Restorable.MarshalBinary()
}

// Cached compiles an interpreter and keeps the result in a folder.
func Cached(dir string, code []byte) error {
	m, err := compileCached(background, machine.Cache{Dir: dir}, code)
	if err != nil {
		return err
	}
	return m.Close()
}

// UnpackedZones returns the archive of time zones.
func UnpackedZones(t testing.TB) []byte {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(packedZones))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
