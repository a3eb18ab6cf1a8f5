package wasm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// plugin is a compiled plug-in with its own wazero runtime. An app can define many tools in one
// plug-in. Programs that differ only in their entry therefore share a plugin.
type plugin struct {
	machine *machine.Machine // nil until the plug-in is compiled
	engine  *Engine
	key     string
	table   abi.Table
	module  *binary.Module // the imports and exports

	mu       sync.Mutex
	starters map[int64]*starter // by memory limit; the initialization can depend on the limit

	loaded   sync.Once
	err      error
	programs int // guarded by Engine.mu
}

// keyOf returns the key of a shared plugin. The key depends on the domain, the code and the
// operation table.
func keyOf(src engine.Source, table abi.Table) string {
	return strings.Join([]string{src.Domain, hash(src.Code), table.Key()}, "\x00")
}

// load returns a program of a plug-in. If the plug-in has not been compiled yet, the function
// compiles the plug-in.
func load(ctx context.Context, e *Engine, src engine.Source) (*program, error) {
	p := e.acquire(src)
	p.loaded.Do(func() { p.err = p.build(ctx, src.Code) })
	entry := cmp.Or(src.Entry, defaultEntry)
	err := p.err
	if err == nil {
		err = inspectEntry(p.module, entry)
	}
	if err != nil {
		_ = e.release(p) // the reason why the load failed is more useful than the error of ctx
		return nil, named(src, err)
	}
	return &program{plugin: p, entry: entry}, nil
}

// acquire returns the plugin for a source. If no plugin for the source exists, the method adds a
// plugin that has not been compiled yet.
func (e *Engine) acquire(src engine.Source) *plugin {
	table := src.Table()
	key := keyOf(src, table)
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.plugins[key]
	if p == nil {
		p = &plugin{engine: e, key: key, table: table}
		if e.plugins == nil {
			e.plugins = make(map[string]*plugin)
		}
		e.plugins[key] = p
	}
	p.programs++
	return p
}

// release is called when a program is closed. When the last program of a plugin is closed, the
// method frees the plugin. If the plugin could not be loaded, the method removes the plugin at
// once.
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
	return errors.Join(append(errs, p.machine.Close())...)
}

// starterOf returns the starter for a memory limit. All runs with this limit share the starter.
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

// build checks, rewrites and compiles a plug-in.
func (p *plugin) build(ctx context.Context, source []byte) error {
	module, err := inspect(source, p.table)
	if err != nil {
		return err
	}
	p.module = module
	code, err := machine.Rewrite(module, machine.RewriteOptions{})
	if wrong, ok := errors.AsType[*machine.ModuleError](err); ok {
		return abi.Faultf(abi.SourceInvalid, "%v", wrong)
	}
	if err != nil {
		return fmt.Errorf("wasm: %w", err)
	}
	p.machine, err = p.compile(ctx, code)
	if wrong, ok := errors.AsType[*machine.ModuleError](err); ok {
		return abi.Faultf(abi.SourceInvalid, "the module is not valid WebAssembly: %v", wrong)
	}
	if err != nil {
		return fmt.Errorf("wasm: %w", err)
	}
	return nil
}

// limits contains the limits on the size and complexity of a plug-in's module.
var limits = binary.Limits{}

// provide instantiates the host modules that a plug-in can import.
func (p *plugin) provide(ctx context.Context, runtime wazero.Runtime, _ wazero.CompiledModule) error {
	_, err := export(runtime.NewHostModuleBuilder(runModule), runFunctions).Instantiate(ctx)
	if err != nil {
		return err
	}
	for _, module := range operationModules(p.table) {
		if _, err = export(runtime.NewHostModuleBuilder(module), operationFunctions(p.table, module)).Instantiate(ctx); err != nil {
			return err
		}
	}
	return wasi.Instantiate(ctx, runtime)
}
