package wasi_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	wazerowasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

var le = binary.LittleEndian

// names contains the names of preview 1 functions in the order of the specification.
var names = []string{
	"args_get", "args_sizes_get", "environ_get", "environ_sizes_get", "clock_res_get", "clock_time_get",
	"fd_advise", "fd_allocate", "fd_close", "fd_datasync", "fd_fdstat_get", "fd_fdstat_set_flags",
	"fd_fdstat_set_rights", "fd_filestat_get", "fd_filestat_set_size", "fd_filestat_set_times", "fd_pread",
	"fd_prestat_get", "fd_prestat_dir_name", "fd_pwrite", "fd_read", "fd_readdir", "fd_renumber", "fd_seek",
	"fd_sync", "fd_tell", "fd_write", "path_create_directory", "path_filestat_get", "path_filestat_set_times",
	"path_link", "path_open", "path_readlink", "path_remove_directory", "path_rename", "path_symlink",
	"path_unlink_file", "poll_oneoff", "proc_exit", "proc_raise", "sched_yield", "random_get", "sock_accept",
	"sock_recv", "sock_send", "sock_shutdown",
}

// section encodes a section of a WASM module: identifier, size, number of items, and items.
func section(id byte, items ...[]byte) []byte {
	body := binary.AppendUvarint(nil, uint64(len(items)))
	for _, item := range items {
		body = append(body, item...)
	}
	return append(binary.AppendUvarint([]byte{id}, uint64(len(body))), body...)
}

func str(s string) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(s))), s...)
}

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

// signed encodes a constant as signed LEB128.
func signed(v int64) (b []byte) {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}

// module builds a module that imports functions of wasi. For each import, module exports a function
// with the same name and with the given type and body. The index of the n-th imported function is
// n.
func module(imports []string, memory []byte, typ func(params, results []api.ValueType) []byte, body func(n int, params []api.ValueType) []byte) []byte {
	var types, imported, funcs, exports, code [][]byte
	for n, name := range imports {
		params, results, _ := wasi.Signature(name)
		types = append(types, funcType(params, results), typ(params, results))
		imported = append(imported, join(str(wasi.ModuleName), str(name), []byte{0}, binary.AppendUvarint(nil, uint64(2*n))))
		funcs = append(funcs, binary.AppendUvarint(nil, uint64(2*n+1)))
		exports = append(exports, join(str(name), []byte{0}, binary.AppendUvarint(nil, uint64(len(imports)+n))))
		b := body(n, params)
		code = append(code, join(binary.AppendUvarint(nil, uint64(len(b))), b))
	}
	parts := [][]byte{[]byte("\x00asm\x01\x00\x00\x00"), section(1, types...), section(2, imported...), section(3, funcs...)}
	if memory != nil {
		parts = append(parts, section(5, memory))
		exports = append(exports, join(str("memory"), []byte{2, 0}))
	}
	return join(append(parts, section(7, exports...), section(10, code...))...)
}

func funcType(params, results []api.ValueType) []byte {
	return join([]byte{0x60}, binary.AppendUvarint(nil, uint64(len(params))), params, binary.AppendUvarint(nil, uint64(len(results))), results)
}

// onePage is the type of a memory of exactly one page.
var onePage = []byte{1, 1, 1}

// proxy builds a guest that exports every function of wasi under the same name and forwards the
// arguments.
func proxy(memory []byte) []byte {
	return module(names, memory, funcType, func(n int, params []api.ValueType) []byte {
		b := []byte{0} // no locals
		for i := range params {
			b = append(b, 0x20, byte(i)) // local.get
		}
		b = append(b, 0x10) // call
		return append(binary.AppendUvarint(b, uint64(n)), 0x0b)
	})
}

// loop builds a guest that exports a function with the same name as the import. The function has a
// parameter "count", and calls the import "count" times with args.
func loop(name string, args ...int64) []byte {
	typ := func(_, _ []api.ValueType) []byte { return funcType([]api.ValueType{api.ValueTypeI32}, nil) }
	return module([]string{name}, onePage, typ, func(_ int, params []api.ValueType) []byte {
		b := []byte{0, 0x03, 0x40} // no locals; loop
		for i, p := range params {
			op := byte(0x41) // i32.const
			if p == api.ValueTypeI64 {
				op = 0x42
			}
			b = append(append(b, op), signed(args[i])...)
		}
		// call function 0, decrement count, repeat while count is not zero
		return append(b, 0x10, 0, 0x1a, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b, 0x0b)
	})
}

// guest is an instance of a test module with its System.
type guest struct {
	testing.TB
	*wasi.System
	api.Module
	ctx context.Context
}

func newRuntime(tb testing.TB) wazero.Runtime {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	tb.Cleanup(func() { _ = r.Close(ctx) })
	return r
}

// start instantiates code with a System that is configured by c.
func start(tb testing.TB, code []byte, c wasi.Config) *guest {
	tb.Helper()
	ctx := context.Background()
	r := newRuntime(tb)
	if err := wasi.Instantiate(ctx, r); err != nil {
		tb.Fatal(err)
	}
	mod, err := r.Instantiate(ctx, code)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := wasi.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return &guest{TB: tb, System: s, Module: mod, ctx: wasi.With(ctx, s)}
}

// try calls a function. try returns the error number and the error that stopped the guest.
func (g *guest) try(name string, args ...uint64) (int, error) {
	results, err := g.ExportedFunction(name).Call(g.ctx, args...)
	if err != nil || len(results) == 0 {
		return -1, err
	}
	return int(results[0]), nil
}

// The method "must" calls a function and checks the returned error number.
func (g *guest) must(want int, name string, args ...uint64) {
	g.Helper()
	if got, err := g.try(name, args...); got != want || err != nil {
		g.Errorf("%s(%x) = %d, %v; want %d", name, args, got, err, want)
	}
}

func (g *guest) put32(at uint32, values ...uint32) {
	for i, v := range values {
		g.Memory().WriteUint32Le(at+uint32(4*i), v)
	}
}

func (g *guest) get32(at uint32) uint32 {
	v, _ := g.Memory().ReadUint32Le(at)
	return v
}

func (g *guest) get64(at uint32) uint64 {
	v, _ := g.Memory().ReadUint64Le(at)
	return v
}

func TestEveryFunctionLinks(t *testing.T) {
	g := start(t, proxy(onePage), wasi.Config{})
	for _, name := range names {
		if !wasi.Known(name) || g.ExportedFunction(name) == nil {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range []string{"", "fd_dup", "fd_write2", "FD_WRITE"} {
		if params, results, ok := wasi.Signature(name); ok || wasi.Known(name) {
			t.Errorf("Signature(%q) = %v, %v; want none", name, params, results)
		}
	}
}

func TestInstantiateTwice(t *testing.T) {
	ctx := context.Background()
	r := newRuntime(t)
	if err := wasi.Instantiate(ctx, r); err != nil {
		t.Fatal(err)
	}
	if err := wasi.Instantiate(ctx, r); err == nil {
		t.Error("Instantiate created a second module of the same name")
	}
}

func TestSignatureIsTheCallers(t *testing.T) {
	params, results, _ := wasi.Signature("fd_write")
	params[0], results[0] = 0, 0
	params, results, _ = wasi.Signature("fd_write")
	if params[0] != api.ValueTypeI32 || results[0] != api.ValueTypeI32 {
		t.Error("modifying a result of Signature changed the table")
	}
}

func TestGuestWithoutSystem(t *testing.T) {
	g := start(t, proxy(onePage), wasi.Config{})
	g.ctx = context.Background()
	if _, err := g.try("sched_yield"); err == nil {
		t.Error("a call without a System succeeded")
	}
}

// TestGuestWithoutMemory checks that all pointers of a guest without memory are invalid. Functions
// without pointers must work in a guest without memory.
func TestGuestWithoutMemory(t *testing.T) {
	g := start(t, proxy(nil), fixed())
	for name, args := range map[string][]uint64{
		"args_get": {0, 0}, "args_sizes_get": {0, 0}, "environ_get": {0, 0}, "environ_sizes_get": {0, 0},
		"clock_res_get": {0, 0}, "clock_time_get": {0, 0, 0}, "fd_fdstat_get": {0, 0}, "fd_filestat_get": {0, 0},
		"fd_read": {0, 0, 0, 0}, "fd_write": {1, 0, 0, 0}, "poll_oneoff": {0, 0, 1, 0}, "random_get": {0, 1},
	} {
		g.must(efault, name, args...)
	}
	g.must(ok, "sched_yield")
	g.must(ebadf, "path_open", 3, 0, 0, 1, 0, 0, 0, 0, 0)
	g.must(ok, "fd_close", 0)
	if _, err := g.try("proc_exit", 3); !errors.Is(err, sys.NewExitError(3)) {
		t.Errorf("proc_exit(3) = %v", err)
	}
}

// TestSignatures compares the signatures with the signatures in wazero's own host module.
func TestSignatures(t *testing.T) {
	compiled, err := wazerowasi.NewBuilder(newRuntime(t)).Compile(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	theirs := compiled.ExportedFunctions()
	if len(theirs) != len(names) {
		t.Errorf("wazero has %d functions; want %d", len(theirs), len(names))
	}
	for name, def := range theirs {
		params, results, ok := wasi.Signature(name)
		if !ok || !slices.Equal(params, def.ParamTypes()) || !slices.Equal(results, def.ResultTypes()) {
			t.Errorf("Signature(%s) = %x, %x, %v; want %x, %x", name, params, results, ok, def.ParamTypes(), def.ResultTypes())
		}
	}
}
