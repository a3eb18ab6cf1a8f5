package pdfium

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// maxMemoryBytes is the highest possible memory limit of an instance.
const maxMemoryBytes = 1 << 30

// Library is the initialized PDF library. Library is safe for concurrent use.
type Library struct {
	machine *machine.Machine
	data    *snapshot.Image // the state before any code of the library has run
	image   *snapshot.Image // after initialisation
}

// start initializes the library in an instance and saves the state of the instance. Every document
// is read in an instance that is restored from the saved state. The function takes ownership of the
// machine.
func start(ctx context.Context, m *machine.Machine) (*Library, error) {
	l := &Library{machine: m}
	if err := l.boot(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("pdfium: start the library: %w", err), l.Close())
	}
	return l, nil
}

func (l *Library) boot(ctx context.Context) (err error) {
	if l.data, err = l.machine.Image(snapshot.Options{MemoryBytes: maxMemoryBytes}); err != nil {
		return err
	}
	in, err := l.data.Restore(ctx, nil)
	if err != nil {
		return err
	}
	defer in.Discard(ctx)
	g := newGuest(ctx, in, unlimited)
	if f := in.Guest().ExportedFunction("__wasm_call_ctors"); f != nil {
		g.call("__wasm_call_ctors")
	} else {
		g.call("_initialize")
	}
	g.call("FPDF_InitLibrary")
	if g.err != nil {
		return g.err
	}
	l.image, err = in.Capture()
	return err
}

// Close waits for active reads and frees the library.
func (l *Library) Close() error { return l.machine.Close(l.image, l.data) }

// budget is the number of fuel slices that a guest is still allowed to use.
type budget struct{ document, page int }

// unlimited is the budget for the start of the library. The start uses only a small part of this
// budget.
var unlimited = &budget{1 << 20, 1 << 20}

// guest is an instance of the library. After one call of an export has failed, guest calls no more
// exports. guest is not safe for concurrent use.
type guest struct {
	ctx       context.Context
	in        *snapshot.Instance
	functions map[string]api.Function
	left      *budget
	spent     bool  // the guest has exceeded its budget
	err       error // the error of the first failed call; later calls do nothing
}

func newGuest(ctx context.Context, in *snapshot.Instance, left *budget) *guest {
	g := &guest{in: in, functions: map[string]api.Function{}, left: left}
	g.ctx = machine.With(ctx, g)
	return g
}

// Yield returns false if the budget is exceeded or the context has ended. wazero calls Yield after
// each slice of fuel.
func (g *guest) Yield() bool {
	g.left.document--
	g.left.page--
	g.spent = g.left.document < 0 || g.left.page < 0
	return !g.spent && g.ctx.Err() == nil
}

// call calls an export and returns the result of the export. After an error, the method returns 0.
func (g *guest) call(name string, args ...uint64) uint32 {
	if g.err != nil {
		return 0
	}
	f := g.functions[name]
	if f == nil {
		if f = g.in.Guest().ExportedFunction(name); f == nil {
			g.err = fmt.Errorf("pdfium: the library does not export %s", name)
			return 0
		}
		g.functions[name] = f
	}
	out, err := f.Call(g.ctx, args...)
	if err != nil {
		g.err = fmt.Errorf("pdfium: %s: %w", name, err)
		return 0
	}
	if len(out) == 0 {
		return 0
	}
	return uint32(out[0])
}

// write copies data to the guest's memory and returns the address of the copy. After an error, the
// method returns 0.
func (g *guest) write(data []byte) uint32 {
	at := g.call("malloc", uint64(max(len(data), 1)))
	if g.err == nil && (at == 0 || !g.in.Guest().Memory().Write(at, data)) {
		g.err = errAborted
	}
	return at
}
