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

// WithFullStarts makes the engine behave as if snapshots did not work: every run starts its own
// interpreter.
func WithFullStarts() Option { return func(e *Engine) { e.full = true } }

// Fresh returns the memory and the globals of the interpreter instance that the next run of a
// program would get.
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

// Tried performs the engine's check of its snapshot and returns the error. The entry point contains
// an index in the function table. Before the check, Tried adds the argument "shift" to that index.
func Tried(e *Engine, shift uint32) error {
	i := *e.interpreter
	i.entry.Slot += shift
	return i.answers(background)
}

// ShrinkStack changes the size of the C stack for all tools that are loaded later. The argument is
// the size in bytes.
func ShrinkStack(e *Engine, bytes uint32) {
	e.interpreter.entry.Limit = e.interpreter.entry.Stack - bytes
}

// RanOnce reports whether the top level of a tool ran only once for all runs.
func RanOnce(loaded engine.Program) bool {
	s := loaded.(*program).topLevel
	return s != nil && s.started != nil
}

// RewriteVersion is the version of the code that rewrites an interpreter before it is compiled.
const RewriteVersion = rewriteVersion

// Rewrite returns the rewritten module of an interpreter.
func Rewrite(code []byte) ([]byte, error) {
	m, err := rewrite(code)
	if err != nil {
		return nil, err
	}
	return m.Restorable.MarshalBinary()
}

// Cached compiles an interpreter and caches the result in a folder.
func Cached(dir string, code []byte) error {
	m, err := compileCached(background, machine.Cache{Dir: dir}, code)
	if err != nil {
		return err
	}
	return m.Close()
}

// UnpackedZones returns the unpacked zip archive of time zones.
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
