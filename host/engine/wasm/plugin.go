package wasm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/fuel"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// plugin is a compiled plug-in, with a runtime of its own. The programs that differ in their entry alone share it:
// an app may have many tools in one plug-in.
type plugin struct {
	*machine
	engine   *Engine
	key      string
	table    []abi.Operation
	shown    *binary.Module   // what it imports and exports
	restored *snapshot.Module // nil for a module that has state which an image does not hold

	mu       sync.Mutex
	starters map[int64]*starter // by how much memory a run may have: what a guest does when it initialises may depend on it

	loaded   sync.Once
	err      error
	programs int // guarded by Engine.mu
}

// keyOf names what programs may share: the code, whose it is, and what it was bound to.
func keyOf(src engine.Source, table []abi.Operation) string {
	parts := []string{src.Domain, hash(src.Code)}
	for _, op := range table {
		parts = append(parts, op.Name)
	}
	return strings.Join(parts, "\x00")
}

// load makes a program of a plug-in that may be loaded already.
func load(ctx context.Context, e *Engine, src engine.Source) (*program, error) {
	p := e.acquire(src)
	p.loaded.Do(func() { p.err = p.compile(ctx, src.Code) })
	entry := orElse(src.Entry, defaultEntry)
	err := p.err
	if err == nil {
		err = inspectEntry(p.shown, entry)
	}
	if err != nil {
		_ = e.release(p) // why it cannot be loaded says more
		return nil, named(src, err)
	}
	return &program{plugin: p, entry: entry}, nil
}

// acquire finds the plug-in of a source, or makes one that is yet to be compiled.
func (e *Engine) acquire(src engine.Source) *plugin {
	key := keyOf(src, abi.Operations)
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.plugins[key]
	if p == nil {
		p = &plugin{engine: e, key: key, table: abi.Operations}
		if e.plugins == nil {
			e.plugins = make(map[string]*plugin)
		}
		e.plugins[key] = p
	}
	p.programs++
	return p
}

// release frees a plug-in with its last program. One that could not be loaded is forgotten at once.
func (e *Engine) release(p *plugin) error {
	e.mu.Lock()
	p.programs--
	last := p.programs == 0
	if e.plugins[p.key] == p && (last || p.err != nil) {
		delete(e.plugins, p.key)
	}
	e.mu.Unlock()
	if !last || p.machine == nil {
		return nil
	}
	var errs []error
	for _, s := range p.starters {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, p.machine.close())...)
}

// starterOf is what makes the instances for runs of so much memory.
func (p *plugin) starterOf(limit int64) *starter {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.starters[limit]
	if s == nil {
		s = newStarter(p)
		if p.starters == nil {
			p.starters = make(map[int64]*starter)
		}
		p.starters[limit] = s
	}
	return s
}

// compile checks a plug-in, rewrites and compiles it.
func (p *plugin) compile(ctx context.Context, code []byte) error {
	code, err := p.rewrite(code)
	if err != nil {
		return err
	}
	m, err := p.engine.cache.compile(ctx, code)
	if err != nil {
		return abi.Faultf(abi.SourceInvalid, "it is no valid WebAssembly: %v", err)
	}
	if err := provide(ctx, m.runtime, p.table); err != nil {
		return errors.Join(fmt.Errorf("wasm: make what plug-ins import: %w", err), m.close())
	}
	p.machine = m
	return nil
}

// limits are what a plug-in may hold.
var limits = binary.Limits{}

// rewrite checks a plug-in and makes of it what is compiled: a module that can be stopped and, where it is of the
// kind, restored.
func (p *plugin) rewrite(code []byte) ([]byte, error) {
	module, err := inspect(code, p.table)
	if err != nil {
		return nil, err
	}
	p.shown = module
	if code, err = fuel.Rewrite(module, fuel.Options{Module: fuelModule}); err != nil {
		return nil, abi.Faultf(abi.SourceInvalid, "%v", err)
	}
	if module, err = binary.Parse(code, fuel.Limits(limits)); err != nil {
		return nil, fmt.Errorf("wasm: read what was rewritten: %w", err)
	}
	if p.restored, err = snapshot.Rewrite(module); err != nil {
		return code, nil // it has state that an image does not hold
	}
	return p.restored.Binary, nil
}

// provide makes the modules that a plug-in may import.
func provide(ctx context.Context, runtime wazero.Runtime, table []abi.Operation) error {
	_, err := export(runtime.NewHostModuleBuilder(runModule), runFunctions).Instantiate(ctx)
	if err != nil {
		return err
	}
	if _, err = export(runtime.NewHostModuleBuilder(memoryModule), memoryFunctions(table)).Instantiate(ctx); err != nil {
		return err
	}
	_, err = runtime.NewHostModuleBuilder(fuelModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(refuel), []api.ValueType{api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64}).
		Export("yield").Instantiate(ctx)
	if err != nil {
		return err
	}
	return wasi.Instantiate(ctx, runtime)
}
