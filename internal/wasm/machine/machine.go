package machine

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// features enables WebAssembly 2.0 and extended constant expressions. Package binary rejects all
// other features.
const features = api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst

// Imports instantiates the host modules that a compiled module imports. Imports need not provide
// the module for fuel, because the machine adds that module.
type Imports func(ctx context.Context, runtime wazero.Runtime, compiled wazero.CompiledModule) error

// Machine is a wazero runtime with one compiled module and its imports. Machine is safe for
// concurrent use.
type Machine struct {
	runtime    wazero.Runtime
	compiled   wazero.CompiledModule
	cache      wazero.CompilationCache
	restorable *snapshot.Module
}

// Compile compiles code in memory. If wazero rejects the code, the error is a *ModuleError.
func Compile(ctx context.Context, code Code, imports Imports) (*Machine, error) {
	return compile(ctx, wazero.NewCompilationCache(), code, imports)
}

// CompileIn is like Compile, but uses a folder for machine code. If the folder contains the machine
// code, CompileIn reads it. If the folder contains no machine code, CompileIn compiles the module
// and writes the machine code to the folder. The folder is trusted, so the caller must check it
// with package codecache first.
func CompileIn(ctx context.Context, dir string, code Code, imports Imports) (*Machine, error) {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open folder of compiled code: %w", err)
	}
	return compile(ctx, cache, code, imports)
}

// compile creates a Machine. The Machine owns the cache.
func compile(ctx context.Context, cache wazero.CompilationCache, code Code, imports Imports) (*Machine, error) {
	config := wazero.NewRuntimeConfig().WithCoreFeatures(features).WithCompilationCache(cache)
	m := &Machine{runtime: wazero.NewRuntimeWithConfig(ctx, config), cache: cache, restorable: code.Restorable}
	var err error
	if m.compiled, err = m.runtime.CompileModule(ctx, code.Binary); err != nil {
		return nil, errors.Join(&ModuleError{err}, m.Close())
	}
	if err = errors.Join(provideFuel(ctx, m.runtime), imports(ctx, m.runtime, m.compiled)); err != nil {
		return nil, errors.Join(fmt.Errorf("instantiate imports: %w", err), m.Close())
	}
	return m, nil
}

// IsRestorable reports whether Image and OpenImage can be called.
func (m *Machine) IsRestorable() bool { return m.restorable != nil }

// Image returns the image of the module before any of its code has run.
func (m *Machine) Image(o snapshot.Options) (*snapshot.Image, error) {
	return snapshot.Load(m.runtime, m.compiled, m.restorable, o)
}

// OpenImage opens a file that contains a saved image of the module; see snapshot.Open.
func (m *Machine) OpenImage(o snapshot.Options, file string, saved snapshot.Saved) (*snapshot.Image, error) {
	return snapshot.Open(m.runtime, m.compiled, m.restorable, o, file, saved)
}

// ReleaseModule frees the bytes of the module. Existing images remain usable. After ReleaseModule,
// Image must not be called.
func (m *Machine) ReleaseModule() { m.restorable.Release() }

// Instantiate creates an instance without an image. If ctx contains a memory allocator, the
// allocator provides the memory of the instance. The caller must close the instance.
func (m *Machine) Instantiate(ctx context.Context, config wazero.ModuleConfig) (api.Module, error) {
	return m.runtime.InstantiateModule(ctx, m.compiled, config)
}

// Close closes the given images of the machine and then the machine. Close skips nil images. No
// execution of the machine may be in progress.
func (m *Machine) Close(images ...*snapshot.Image) error {
	ctx := context.Background()
	var errs []error
	for _, image := range images {
		if image != nil {
			errs = append(errs, image.Close(ctx))
		}
	}
	return errors.Join(append(errs, m.runtime.Close(ctx), m.cache.Close(ctx))...)
}
