package snapshot_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// compiled caches machine code across tests.
var compiled = wazero.NewCompilationCache()

// goGuest builds a guest in testdata, once for all tests.
func goGuest(tb testing.TB, name string) []byte {
	tb.Helper()
	build, _ := builds.LoadOrStore(name, sync.OnceValues(func() ([]byte, error) { return buildGo(name) }))
	wasm, err := build.(func() ([]byte, error))()
	if err != nil {
		tb.Fatal(err)
	}
	return wasm
}

var builds sync.Map

func buildGo(name string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "guest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, name+".wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-o", file, "./testdata/"+name)
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// newRuntime returns a runtime with the functions of package wasi.
func newRuntime(tb testing.TB) wazero.Runtime {
	tb.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(compiled))
	tb.Cleanup(func() { r.Close(ctx) })
	if err := wasi.Instantiate(ctx, r); err != nil {
		tb.Fatal(err)
	}
	return r
}

// system returns a context with a new WASI system. All systems use the same monotonic clock.
func system(tb testing.TB, c wasi.Config) context.Context {
	tb.Helper()
	if c.Nanotime == nil {
		c.Nanotime = nanotime
	}
	s, err := wasi.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return wasi.With(context.Background(), s)
}

var started = time.Now()

func nanotime() int64 { return int64(time.Since(started)) + 1 }

// witnessed returns the context in which CaptureInitialized initializes a guest.
func witnessed(tb testing.TB, w *snapshot.NondeterminismProbe, environ ...string) context.Context {
	tb.Helper()
	w.Monotonic = nanotime
	return system(tb, wasi.Config{Walltime: w.Walltime, Nanotime: w.Nanotime, Random: w, Environ: environ})
}

// compile rewrites and compiles a module.
func compile(tb testing.TB, r wazero.Runtime, wasm []byte) (wazero.CompiledModule, *snapshot.Module) {
	tb.Helper()
	parsed, err := binary.Parse(wasm, binary.Limits{})
	if err != nil {
		tb.Fatal(err)
	}
	m, err := snapshot.Rewrite(parsed)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := r.CompileModule(context.Background(), m.Binary)
	if err != nil {
		tb.Fatal(err)
	}
	return c, m
}

// load rewrites and compiles a guest. load returns the image of the guest's data segments.
func load(tb testing.TB, r wazero.Runtime, wasm []byte, o snapshot.Options) *snapshot.Image {
	tb.Helper()
	c, m := compile(tb, r, wasm)
	base, err := snapshot.Load(r, c, m, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { base.Close(context.Background()) })
	return base
}

// take captures an initialized guest and returns its image.
func take(tb testing.TB, r wazero.Runtime, wasm []byte, o snapshot.Options) *snapshot.Image {
	tb.Helper()
	var w snapshot.NondeterminismProbe
	image, err := snapshot.CaptureInitialized(witnessed(tb, &w), load(tb, r, wasm, o), &w)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { image.Close(context.Background()) })
	return image
}

func restore(tb testing.TB, image *snapshot.Image) *snapshot.Instance {
	tb.Helper()
	in, err := image.Restore(context.Background(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return in
}

func closeInstance(tb testing.TB, in *snapshot.Instance) {
	tb.Helper()
	if err := in.Close(context.Background()); err != nil {
		tb.Fatal(err)
	}
}

// call calls an export that has one result.
func call(tb testing.TB, ctx context.Context, guest api.Module, name string, params ...uint64) uint64 {
	tb.Helper()
	results, err := guest.ExportedFunction(name).Call(ctx, params...)
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return results[0]
}
