package snapshot_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolrun/toolrun/internal/wasm/snapshot"
	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// withPause returns a runtime for the module counter. The import calls f.
func withPause(t *testing.T, f func(context.Context)) wazero.Runtime {
	t.Helper()
	r := newRuntime(t)
	_, err := r.NewHostModuleBuilder("host").NewFunctionBuilder().WithFunc(f).Export("pause").Instantiate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func counterImage(t *testing.T, o snapshot.Options) *snapshot.Image {
	t.Helper()
	return take(t, withPause(t, func(context.Context) {}), counter, o)
}

// memoryOf returns the whole memory of a guest without copying it.
func memoryOf(t *testing.T, guest api.Module) []byte {
	t.Helper()
	all, ok := guest.Memory().Read(0, guest.Memory().Size())
	if !ok {
		t.Fatal("cannot read the memory")
	}
	return all
}

func TestRestoreStart(t *testing.T) {
	in := restore(t, counterImage(t, snapshot.Options{}))
	defer closeInstance(t, in)
	memory := memoryOf(t, in.Guest())
	want := make([]byte, 3<<16)
	copy(want[16:], "imAGe")
	copy(want[65540:], "second page")
	want[200] = 1 // the start function increments this byte once
	if !bytes.Equal(memory, want) {
		t.Error("the memory does not contain the data segments and the writes of the start function")
	}
	if got := call(t, context.Background(), in.Guest(), "count"); got != 8 {
		t.Errorf("count = %d; want 8, the value of the start function plus 1", got)
	}
}

// TestNoResidue checks that data of one guest is not visible to the next guest.
func TestNoResidue(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct {
		name  string
		dirty func(t *testing.T, guest api.Module)
		// reused reports whether the next run must get the same instance, because the test depends
		// on it.
		reused bool
	}{
		{"some pages", func(t *testing.T, guest api.Module) {
			memory := memoryOf(t, guest)
			for _, at := range []int{0, 17, 4096, 65541, len(memory) - 1} {
				memory[at] = 0xa5
			}
		}, true},
		{"all pages", func(t *testing.T, guest api.Module) { fill(memoryOf(t, guest)) }, true},
		{"globals", func(t *testing.T, guest api.Module) {
			guest.ExportedGlobal("wide").(api.MutableGlobal).Set(math.MaxUint64)
			guest.ExportedGlobal("real").(api.MutableGlobal).Set(api.EncodeF64(math.Pi))
			call(t, ctx, guest, "count")
		}, true},
		{"trap", func(t *testing.T, guest api.Module) {
			fill(memoryOf(t, guest))
			if _, err := guest.ExportedFunction("trap").Call(ctx); err == nil {
				t.Error("no trap")
			}
		}, true},
		{"grown", func(t *testing.T, guest api.Module) {
			if got := call(t, ctx, guest, "grow", 5); got != 3 {
				t.Errorf("grow = %d; want 3, the pages before", got)
			}
			fill(memoryOf(t, guest))
		}, false},
		{"closed", func(t *testing.T, guest api.Module) {
			fill(memoryOf(t, guest))
			guest.CloseWithExitCode(ctx, 3)
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			image := counterImage(t, snapshot.Options{Idle: 1})
			first := restore(t, image)
			want := bytes.Clone(memoryOf(t, first.Guest()))
			used := first.Guest()
			test.dirty(t, used)
			closeInstance(t, first)
			next := restore(t, image)
			if reused := next.Guest() == used; reused != test.reused {
				t.Errorf("reused = %t; want %t", reused, test.reused)
			}
			checkFresh(t, next.Guest(), want)
			closeInstance(t, next)
		})
	}
}

func fill(memory []byte) {
	for i := range memory {
		memory[i] = byte(i) | 0x80
	}
}

// checkFresh checks that a guest is in the state of the counter's image and that its memory
// contains zeros after it grows.
func checkFresh(t *testing.T, guest api.Module, want []byte) {
	t.Helper()
	if !bytes.Equal(memoryOf(t, guest), want) {
		t.Error("the memory differs from the image")
	}
	if wide, real := guest.ExportedGlobal("wide").Get(), api.DecodeF64(guest.ExportedGlobal("real").Get()); wide != 2 || real != 1 {
		t.Errorf("globals = %d, %g; want 2, 1", wide, real)
	}
	if got := call(t, context.Background(), guest, "count"); got != 8 {
		t.Errorf("count = %d; want 8", got)
	}
	guest.Memory().Grow(6)
	for i, b := range memoryOf(t, guest)[len(want):] {
		if b != 0 {
			t.Fatalf("byte %d past the image = %#x; want 0", i, b)
		}
	}
}

// TestCapture captures an image during a call. The image must not include the call.
func TestCapture(t *testing.T) {
	ctx := context.Background()
	var in *snapshot.Instance
	var captured *snapshot.Image
	var err error
	r := withPause(t, func(context.Context) {
		memoryOf(t, in.Guest())[100] = 1
		if captured, err = in.Capture(); err != nil {
			t.Error(err)
			return
		}
		memoryOf(t, in.Guest())[100] = 2
	})
	base := load(t, r, counter, snapshot.Options{})
	if in, err = base.Restore(ctx, nil); err != nil {
		t.Fatal(err)
	}
	call(t, ctx, in.Guest(), "grow", 2)
	call(t, ctx, in.Guest(), "pause")
	closeInstance(t, in)
	base.Close(ctx)

	defer captured.Close(ctx)
	for range 2 {
		pooled := restore(t, captured)
		memory := memoryOf(t, pooled.Guest())
		if len(memory) != 5<<16 || memory[100] != 1 || string(memory[16:21]) != "imAGe" {
			t.Errorf("memory: %d bytes, %d at 100; want %d, 1", len(memory), memory[100], 5<<16)
		}
		if got := call(t, ctx, pooled.Guest(), "count"); got != 51 {
			t.Errorf("count = %d; want 51, one more than before the pause", got)
		}
		closeInstance(t, pooled)
	}
}

// TestConcurrent checks that each of many concurrent goroutines sees only its own writes.
func TestConcurrent(t *testing.T) {
	image := take(t, newRuntime(t), goGuest(t, "writer"), snapshot.Options{Instances: 6, Idle: 3})
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for n := range 300 {
				checkWriter(t, image, uint64(worker*1000+n+2), n%50 == 49)
			}
		})
	}
	all.Wait()
}

func checkWriter(t *testing.T, image *snapshot.Image, mine uint64, grow bool) {
	ctx := system(t, wasi.Config{})
	in, err := image.Restore(ctx, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer in.Close(ctx)
	for i := range uint64(3) {
		if got := call(t, ctx, in.Guest(), "push", mine); got != i+1 {
			t.Errorf("push = %d; want %d", got, i+1)
		}
	}
	if got := call(t, ctx, in.Guest(), "sum"); got != 3*mine {
		t.Errorf("sum = %d; want %d", got, 3*mine)
	}
	if grow {
		call(t, ctx, in.Guest(), "fill", 4<<20, 0x5a)
	}
}

func TestClose(t *testing.T) {
	ctx := context.Background()
	image := counterImage(t, snapshot.Options{})
	closeInstance(t, restore(t, image)) // an idle one
	in := restore(t, image)
	for range 2 {
		if err := image.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := image.Restore(ctx, nil); !errors.Is(err, snapshot.ErrClosed) {
		t.Errorf("Restore of a closed image = %v; want ErrClosed", err)
	}
	if got := call(t, ctx, in.Guest(), "count"); got != 8 {
		t.Errorf("count, after the image was closed = %d; want 8", got)
	}
	fill(memoryOf(t, in.Guest()))
	closeInstance(t, in)
	closeInstance(t, in)
}

// TestCloseDuringRuns closes an image during runs. Existing instances stay usable, and Restore
// returns ErrClosed.
func TestCloseDuringRuns(t *testing.T) {
	ctx := context.Background()
	image := counterImage(t, snapshot.Options{})
	var all sync.WaitGroup
	started := make(chan struct{}, 4)
	for range 4 {
		all.Go(func() {
			for n := 0; ; n++ {
				in, err := image.Restore(ctx, nil)
				if errors.Is(err, snapshot.ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n == 20 {
					started <- struct{}{}
				}
				fill(memoryOf(t, in.Guest())[:100])
				if got := call(t, ctx, in.Guest(), "count"); got != 8 {
					t.Errorf("count = %d; want 8", got)
				}
				in.Close(ctx)
			}
		})
	}
	<-started
	if err := image.Close(ctx); err != nil {
		t.Error(err)
	}
	all.Wait()
}

// TestExitWhileRunning closes an instance during a call. The guest can write to its memory until it
// stops.
func TestExitWhileRunning(t *testing.T) {
	ctx := context.Background()
	var in *snapshot.Instance
	r := withPause(t, func(ctx context.Context) { in.Guest().CloseWithExitCode(ctx, 3) })
	in = restore(t, load(t, r, counter, snapshot.Options{}))
	_, err := in.Guest().ExportedFunction("pause").Call(ctx)
	var exit *sys.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("pause = %v; want exit code 3", err)
	}
	closeInstance(t, in)
}

func TestRestoreWaits(t *testing.T) {
	image := counterImage(t, snapshot.Options{Instances: 1})
	in := restore(t, image)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(enough)
	if _, err := image.Restore(ctx, nil); !errors.Is(err, enough) {
		t.Errorf("Restore of a second instance, where one is allowed = %v; want the cause of the context", err)
	}
	got := make(chan error)
	go func() {
		second, err := image.Restore(context.Background(), nil)
		if err == nil {
			err = second.Close(context.Background())
		}
		got <- err
	}()
	closeInstance(t, in)
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestMemoryLimits(t *testing.T) {
	ctx := context.Background()
	r := withPause(t, func(context.Context) {})
	m, err := rewrite(counter)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.CompileModule(ctx, m.Binary)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Load(r, c, m, snapshot.Options{MemoryBytes: 2 << 16}); !errors.Is(err, snapshot.ErrMemory) {
		t.Errorf("Load of three pages into two = %v; want ErrMemory", err)
	}
	image, err := snapshot.Load(r, c, m, snapshot.Options{MemoryBytes: 5 << 16})
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close(ctx)
	in := restore(t, image)
	if err := in.LimitMemory(2 << 16); !errors.Is(err, snapshot.ErrMemory) {
		t.Errorf("LimitMemory to two pages of three = %v; want ErrMemory", err)
	}
	if err := in.LimitMemory(4 << 16); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ pages, want int32 }{{2, -1}, {0, 3}} {
		if got := int32(call(t, ctx, in.Guest(), "grow", uint64(step.pages))); got != step.want {
			t.Errorf("grow(%d), of three pages and at most four = %d; want %d", step.pages, got, step.want)
		}
	}
	closeInstance(t, in)
	in = restore(t, image)
	defer closeInstance(t, in)
	for _, step := range []struct{ pages, want int32 }{{3, -1}, {2, 3}, {1, -1}} {
		if got := int32(call(t, ctx, in.Guest(), "grow", uint64(step.pages))); got != step.want {
			t.Errorf("grow(%d), of three pages and at most five = %d; want %d", step.pages, got, step.want)
		}
	}
}

// TestLoadOfAnother checks that Load returns an error if the code belongs to another module.
func TestLoadOfAnother(t *testing.T) {
	r := withPause(t, func(context.Context) {})
	m, err := rewrite(counter)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.CompileModule(context.Background(), with())
	if err != nil {
		t.Fatal(err)
	}
	image, err := snapshot.Load(r, c, m, snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if in, err := image.Restore(context.Background(), nil); err == nil {
		t.Errorf("Restore = %v; want an error", in)
	}
	image.Close(context.Background())
}
