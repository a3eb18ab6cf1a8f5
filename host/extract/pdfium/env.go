package pdfium

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/table"
)

// These are the names of the modules from which Emscripten's code imports functions. Emscripten
// uses a part of the standard WASI. Unlike the standard, Emscripten passes each 64-bit number as
// two 32-bit numbers.
const (
	envModule  = "env"
	wasiModule = "wasi_snapshot_preview1"
)

// errAborted is a panic value. If a guest aborts, for example because it is out of memory, the host
// panics with errAborted. The panic ends the guest, and the guest cannot catch the panic.
var errAborted = errors.New("pdfium: the library aborted")

// errJump is a panic value. The host implements longjmp as a panic with errJump. The panic unwinds
// the stack to the innermost host function that "invoke" returned.
var errJump = errors.New("pdfium: uncaught longjmp")

// Error numbers of WASI. WASI functions return EBADF. System calls of the guest return the negated
// ENOSYS.
const (
	badDescriptor = 8
	notSupported  = 0xFFFF_FFFF - 52 + 1
)

// provideModule creates a module that contains the functions that the library imports. The
// functions do not give the library access to files, a clock, a time zone or an environment.
func provideModule(ctx context.Context, runtime wazero.Runtime, code wazero.CompiledModule, from string) error {
	b := runtime.NewHostModuleBuilder(from)
	for _, f := range code.ImportedFunctions() {
		module, name, _ := f.Import()
		if module != from {
			continue
		}
		handler, err := hostFunction(name, f)
		if err != nil {
			return err
		}
		b.NewFunctionBuilder().WithGoModuleFunction(handler, f.ParamTypes(), f.ResultTypes()).WithName(name).Export(name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

// hostFunction returns the host function for an import.
func hostFunction(name string, f api.FunctionDefinition) (api.GoModuleFunc, error) {
	switch {
	case strings.HasPrefix(name, "invoke_"):
		return invoke(f), nil
	case strings.HasPrefix(name, "__syscall_"):
		return constant(notSupported), nil
	case strings.HasPrefix(name, "fd_"):
		return constant(badDescriptor), nil
	}
	switch strings.TrimLeft(name, "_") {
	case "emscripten_resize_heap":
		return resizeHeap, nil
	case "emscripten_memcpy_js":
		return copyMemory, nil
	case "emscripten_throw_longjmp":
		return func(context.Context, api.Module, []uint64) { panic(errJump) }, nil
	case "abort", "abort_js", "assert_fail":
		return func(context.Context, api.Module, []uint64) { panic(errAborted) }, nil
	case "environ_sizes_get":
		return noEnvironment, nil
	case "environ_get", "tzset_js", "localtime_js", "gmtime_js", "emscripten_date_now":
		return constant(0), nil
	}
	return nil, fmt.Errorf("the library imports %q, which the host does not provide", name)
}

// constant returns a host function that always returns the given value.
func constant(value uint64) api.GoModuleFunc {
	return func(_ context.Context, _ api.Module, stack []uint64) {
		if len(stack) > 0 {
			stack[0] = value
		}
	}
}

// noEnvironment is the host function that reports the size of the environment. It reports that the
// environment has no variables and no bytes.
func noEnvironment(_ context.Context, guest api.Module, stack []uint64) {
	if !guest.Memory().WriteUint32Le(uint32(stack[0]), 0) || !guest.Memory().WriteUint32Le(uint32(stack[1]), 0) {
		panic(errAborted)
	}
	stack[0] = 0
}

// copyMemory is the host function that copies bytes in the guest's memory. The parameters of
// copyMemory are destination, source and length.
func copyMemory(_ context.Context, guest api.Module, stack []uint64) {
	from, ok := guest.Memory().Read(uint32(stack[1]), uint32(stack[2]))
	if !ok || !guest.Memory().Write(uint32(stack[0]), from) {
		panic(errAborted)
	}
}

// resizeHeap is the host function that grows the guest's memory. The parameter is the new size in
// bytes. If the new size exceeds the limit, resizeHeap returns 0.
func resizeHeap(_ context.Context, guest api.Module, stack []uint64) {
	const page = 64 << 10
	size, has := uint64(uint32(stack[0])), uint64(guest.Memory().Size())
	stack[0] = 0
	if size <= has {
		stack[0] = 1
	} else if _, ok := guest.Memory().Grow(uint32((size - has + page - 1) / page)); ok {
		stack[0] = 1
	}
}

// These are the names of three exports of the library. Two exports save and restore the C stack
// pointer. The third export stores a pending jump for the function that called setjmp.
const (
	stackGetExport = "emscripten_stack_get_current"
	stackSetExport = "_emscripten_stack_restore"
	jumpedExport   = "setThrew"
)

// invoke returns a host function. The host function calls a guest function, which a table index
// selects. If the guest function returns, or if a longjmp leaves the guest function, the host
// function returns.
func invoke(f api.FunctionDefinition) api.GoModuleFunc {
	params, results := f.ParamTypes()[1:], f.ResultTypes()
	return func(ctx context.Context, guest api.Module, stack []uint64) {
		at := mustCall(ctx, guest, stackGetExport)
		callee := table.LookupFunction(guest, 0, uint32(stack[0]), params, results)
		out, err := callee.Call(ctx, stack[1:1+len(params)]...)
		if errors.Is(err, errJump) {
			mustCall(ctx, guest, stackSetExport, at)
			mustCall(ctx, guest, jumpedExport, 1, 0)
			return
		}
		if err != nil {
			panic(err)
		}
		copy(stack, out)
	}
}

// mustCall calls an export of the guest from a host function. If the call fails, mustCall ends the
// guest.
func mustCall(ctx context.Context, guest api.Module, name string, args ...uint64) uint64 {
	f := guest.ExportedFunction(name)
	if f == nil {
		panic(fmt.Errorf("pdfium: the library does not export %s", name))
	}
	out, err := f.Call(ctx, args...)
	if err != nil {
		panic(err)
	}
	if len(out) == 0 {
		return 0
	}
	return out[0]
}
