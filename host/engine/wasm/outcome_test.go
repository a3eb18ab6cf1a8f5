package wasm_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest/wasmtools"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

func loadPlugin(t testing.TB, code []byte) engine.Program {
	t.Helper()
	p, err := newEngine(t).Load(context.Background(), engine.Source{Path: "p.wasm", Code: code})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestRunEnds(t *testing.T) {
	grow := append(append(wasmtest.Const(1000), wasmtest.MemoryGrow, 0), wasmtest.Drop, wasmtest.Unreachable)
	for _, test := range []struct {
		name string
		code []byte
		want abi.Code
		text string
	}{
		{"a trap", plugin(nil, wasmtest.Unreachable), abi.ToolError, "trapped: unreachable"},
		{"division by zero", plugin(nil, append(append(append(wasmtest.Const(1), wasmtest.Const(0)...), wasmtest.I32DivS), wasmtest.Drop)...), abi.ToolError, "trapped: integer divide by zero"},
		{"out of bounds", plugin(nil, append(wasmtest.Const(1<<20), wasmtest.I32Load8U, 0, 0, wasmtest.Drop)...), abi.ToolError, "trapped: out of bounds memory access"},
		{"endless recursion", []byte(wasmtools.Recursive), abi.StackLimit, "stack limit"},
		{"too much memory", plugin(func(m *wasmtest.Module) { m.MaxPages = 2000 }, grow...), abi.MemoryLimit, "1 MiB"},
		{"a trap during initialisation", plugin(func(m *wasmtest.Module) { m.Func("_initialize", 0, wasmtest.Unreachable) }), abi.ToolError, "unreachable"},
		{"endless recursion during initialisation", plugin(func(m *wasmtest.Module) { m.Func("_initialize", 0, wasmtest.Call(0)...) }), abi.StackLimit, "stack limit"},
		{"too much memory during initialisation", plugin(func(m *wasmtest.Module) { m.Func("_initialize", 0, grow...) }), abi.MemoryLimit, "1 MiB"},
		{"too much initial memory", plugin(func(m *wasmtest.Module) { m.Pages = 17 }), abi.MemoryLimit, "1 MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := loadPlugin(t, test.code)
			for range 2 { // the second run restores the instance of the first run
				in := engine.Input{Limits: engine.Limits{MemoryBytes: 1 << 20}}
				_, err := p.Run(t.Context(), in, engine.Host{})
				if f, ok := err.(*abi.Fault); !ok || f.Code != test.want || !strings.Contains(f.Message, test.text) {
					t.Errorf("Run = %v; want %s with %q", err, test.want, test.text)
				}
			}
		})
	}
}

// TestShared opens and closes programs of one plug-in concurrently. If one program of the plug-in
// is closed, the other programs must continue to work.
func TestShared(t *testing.T) {
	e, m := newEngine(t), &wasmtest.Module{Pages: 1}
	write := m.Import("toolrun.output_write", 2)
	m.Data(16, "12")
	m.Func("toolrun_abi_1", 0)
	m.Func("one", 1, wasmtest.Call(write, 16, 1)...)
	m.Func("two", 1, wasmtest.Call(write, 17, 1)...)
	code := m.Bytes()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 20 {
				entry, want := "one", "1"
				if (i+n)%2 == 1 {
					entry, want = "two", "2"
				}
				p, err := e.Load(t.Context(), engine.Source{Path: "p.wasm", Code: code, Entry: entry})
				if err != nil {
					t.Errorf("Load = %v", err)
					return
				}
				if out, err := p.Run(t.Context(), engine.Input{}, engine.Host{}); err != nil || string(out.Output) != want {
					t.Errorf("Run of %s = %s, %v; want %s", entry, out.Output, err, want)
				}
				if err := p.Close(); err != nil {
					t.Errorf("Close = %v", err)
				}
			}
		})
	}
	all.Wait()
	for _, path := range []string{"a.wasm", "b.wasm"} { // each caller gets its own fault
		_, err := e.Load(t.Context(), engine.Source{Path: path, Code: code, Entry: "three"})
		if f, ok := err.(*abi.Fault); !ok || f.File != path {
			t.Errorf("Load of %s = %v; want a fault that names it", path, err)
		}
	}
}

// TestAbortMessage runs a plug-in that prints a message and then aborts. The message resembles a
// message of the Go runtime.
func TestAbortMessage(t *testing.T) {
	const words = "panic: oh no\n\ngoroutine 1"
	m := &wasmtest.Module{Pages: 1}
	write := m.Import("wasi_snapshot_preview1.fd_write", 4)
	m.Data(16, "\x20\x00\x00\x00"+string(rune(len(words)))+"\x00\x00\x00") // an iovec
	m.Data(32, words)
	m.Func("toolrun_abi_1", 0)
	m.Func("toolrun_run", 1, append(wasmtest.Call(write, 2, 16, 1, 8), wasmtest.Drop, wasmtest.Unreachable)...)
	_, err := loadPlugin(t, m.Bytes()).Run(t.Context(), engine.Input{}, engine.Host{})
	if f, ok := err.(*abi.Fault); !ok || f.Message != "the plug-in trapped: unreachable: panic: oh no" {
		t.Errorf("Run = %v; want the message of the runtime", err)
	}
}

// TestStopUnderCollection runs guests that contain endless loops. There is a guest for each known
// kind of endless loop. Meanwhile, the garbage collector runs continuously. If a guest could not be
// preempted, the collector and the test would block.
func TestStopUnderCollection(t *testing.T) {
	collecting, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for collecting.Err() == nil {
			runtime.GC()
		}
	}()
	loop := []byte{wasmtest.Loop, wasmtest.Empty, wasmtest.Br, 0, wasmtest.End}
	// f(n) calls f(n-1) twice. The entry therefore makes 2^40 calls, although the code contains no
	// loop.
	exponential := func(m *wasmtest.Module) {
		deeper := m.Func("", 0)
		for range 40 {
			deeper = m.Func("", 0, append(wasmtest.Call(deeper), wasmtest.Call(deeper)...)...)
		}
	}
	for _, test := range []struct {
		name string
		code []byte
	}{
		{"a loop", plugin(nil, loop...)},
		{"a loop during initialisation", plugin(func(m *wasmtest.Module) { m.Func("_initialize", 0, loop...) })},
		{"exponential calls", plugin(exponential, wasmtest.Call(40)...)},
		{"filling memory", plugin(nil, filling()...)},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err := loadPlugin(t, test.code).Run(ctx, engine.Input{}, engine.Host{})
			if !errors.Is(err, abi.Timeout) {
				t.Errorf("Run = %v; want timeout", err)
			}
			t.Logf("stopped %s after its deadline", time.Since(deadlineOf(ctx)).Round(time.Millisecond))
		})
	}
}

func deadlineOf(ctx context.Context) time.Time {
	deadline, _ := ctx.Deadline()
	return deadline
}

// filling returns the code of an endless loop. Each iteration calls memory.fill for a whole page.
func filling() []byte {
	code := []byte{wasmtest.Loop, wasmtest.Empty}
	code = append(append(append(code, wasmtest.Const(0)...), wasmtest.Const(1)...), wasmtest.Const(65536)...)
	return append(code, 0xfc, 0x0b, 0, wasmtest.Br, 0, wasmtest.End)
}

// TestCallsEndWithTheRun runs guests that call host functions in a loop. All the calls fail. Each
// host function must check the deadline, because a guest executes only one instruction for a call.
func TestCallsEndWithTheRun(t *testing.T) {
	loopOf := func(name string, params int, args ...int32) []byte {
		return plugin(func(m *wasmtest.Module) { m.Pages = 300; m.Import(name, params) },
			append(append([]byte{wasmtest.Loop, wasmtest.Empty}, wasmtest.Call(0, args...)...), wasmtest.Drop, wasmtest.Br, 0, wasmtest.End)...)
	}
	for name, code := range map[string][]byte{
		"set_content of much, and of what is not there": loopOf("memory.set_content", 6, 16, 5, 0, 16<<20, -1, 10),
		"output_write": loopOf("toolrun.output_write", 2, 0, 1<<20),
		"log":          loopOf("toolrun.log", 3, 1, 0, 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			if _, err := loadPlugin(t, code).Run(ctx, engine.Input{}, engine.Host{}); !errors.Is(err, abi.Timeout) {
				t.Errorf("Run = %v; want timeout", err)
			}
		})
	}
}

// TestRunDoesNotWait checks that a run ends at its deadline even if the initialization of another
// run never ends.
func TestRunDoesNotWait(t *testing.T) {
	p := loadPlugin(t, plugin(func(m *wasmtest.Module) {
		m.Func("_initialize", 0, wasmtest.Loop, wasmtest.Empty, wasmtest.Br, 0, wasmtest.End)
	}))
	first, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(first, engine.Input{}, engine.Host{})
	}()
	time.Sleep(50 * time.Millisecond) // no run may wait for the other
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Run(short, engine.Input{}, engine.Host{}); !errors.Is(err, abi.Timeout) {
		t.Errorf("Run = %v; want timeout", err)
	}
	stop()
	<-done
}

// TestLimitIsTheRunsOwn checks that each run has its own memory limit. The first run has a low
// memory limit.
func TestLimitIsTheRunsOwn(t *testing.T) {
	grow := append(append(wasmtest.Const(100), wasmtest.MemoryGrow, 0), wasmtest.Const(-1)...)
	grow = append(append(grow, 0x46, wasmtest.If, wasmtest.Empty), wasmtest.Unreachable, wasmtest.End) // trap on -1
	p := loadPlugin(t, plugin(nil, grow...))
	for _, test := range []struct {
		limit int64
		want  error
	}{{1 << 20, abi.MemoryLimit}, {64 << 20, nil}, {1 << 20, abi.MemoryLimit}} {
		_, err := p.Run(t.Context(), engine.Input{Limits: engine.Limits{MemoryBytes: test.limit}}, engine.Host{})
		if !errors.Is(err, test.want) {
			t.Errorf("Run with %d bytes = %v; want %v", test.limit, err, test.want)
		}
	}
}
