package wasi_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// edges contains special arguments. A fuzzed byte is an index into edges. If the index is out of
// range, the argument is eight times the byte.
var edges = []uint64{0, 1, 2, 3, 4, 7, 8, 1024, 1025, page - 64, page - 8, page - 1, page, page + 1,
	math.MaxInt32, math.MaxInt32 + 1, 0x0555_5556, 0x2000_0001, math.MaxUint32 - 7, math.MaxUint32, math.MaxUint64}

func edge(b byte) uint64 {
	if int(b) < len(edges) {
		return edges[b]
	}
	return 8 * uint64(b)
}

// span is a memory range that a call may write to.
type span struct{ at, n uint64 }

// claimed returns the memory ranges to which a successful call may write under the Config of the
// test.
func claimed(name string, p []uint64) []span {
	switch name {
	case "args_get":
		return []span{{p[0], 12}, {p[1], 14}}
	case "environ_get":
		return []span{{p[0], 8}, {p[1], 17}}
	case "args_sizes_get", "environ_sizes_get":
		return []span{{p[0], 4}, {p[1], 4}}
	case "clock_res_get":
		return []span{{p[1], 8}}
	case "clock_time_get":
		return []span{{p[2], 8}}
	case "fd_fdstat_get":
		return []span{{p[1], 24}}
	case "fd_filestat_get":
		return []span{{p[1], 64}}
	case "fd_read", "fd_write":
		return []span{{p[3], 4}}
	case "poll_oneoff":
		return []span{{p[1], 32 * p[2]}, {p[3], 4}}
	case "random_get":
		return []span{{p[0], p[1]}}
	}
	return nil
}

// FuzzCalls interprets bytes as calls from a guest. The bytes contain first the memory, then a
// function and its arguments for each call. Every call must return or exit. A failed call must not
// change the memory, and a successful call may change only its results.
func FuzzCalls(f *testing.F) {
	f.Add([]byte{}, []byte{})
	for i := range names {
		for e := range edges {
			f.Add([]byte{0, 1, 2, 3}, append([]byte{byte(i)}, bytes.Repeat([]byte{byte(e)}, 9)...))
		}
	}
	write, poll := byte(slices.Index(names, "fd_write")), byte(slices.Index(names, "poll_oneoff"))
	f.Add([]byte{64, 0, 0, 0, 9, 0, 0, 0, 'a', '\n', 0xff}, []byte{write, 1, 0, 1, 200, write, 2, 0, 1, 4})
	f.Add(bytes.Repeat([]byte{1}, 300), []byte{poll, 0, 0, 3, 200, poll, 0, 200, 1, 4})

	ctx := context.Background()
	r := newRuntime(f)
	if err := wasi.Instantiate(ctx, r); err != nil {
		f.Fatal(err)
	}
	compiled, err := r.CompileModule(ctx, proxy(onePage))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, initial, calls []byte) {
		mod, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = mod.Close(ctx) }()
		c := fixed()
		c.Random = constant(0x5a)
		c.Log = func(stream int, line []byte) error {
			if stream != wasi.Stdout && stream != wasi.Stderr || len(line) > wasi.MaxLine {
				t.Errorf("Log got a line of %d bytes for stream %d", len(line), stream)
			}
			return nil
		}
		s, err := wasi.New(c)
		if err != nil {
			t.Fatal(err)
		}
		mod.Memory().Write(0, initial[:min(len(initial), page)])
		for range 16 {
			calls = oneCall(t, wasi.With(ctx, s), mod, calls)
		}
		if err := s.Flush(); err != nil {
			t.Errorf("Flush = %v", err)
		}
	})
}

// oneCall makes the call that the first bytes describe, checks its effects and returns the
// remaining bytes.
func oneCall(t *testing.T, ctx context.Context, mod api.Module, calls []byte) []byte {
	if len(calls) == 0 {
		return nil
	}
	name := names[int(calls[0])%len(names)]
	calls = calls[1:]
	params, _, _ := wasi.Signature(name)
	args := make([]uint64, len(params))
	for i := range args {
		if i < len(calls) {
			args[i] = edge(calls[i])
		}
		if params[i] == api.ValueTypeI32 {
			args[i] = uint64(uint32(args[i]))
		}
	}
	memory, _ := mod.Memory().Read(0, page)
	before := bytes.Clone(memory)
	results, err := mod.ExportedFunction(name).Call(ctx, args...)
	if _, exited := err.(*sys.ExitError); err != nil && !(exited && name == "proc_exit") {
		t.Fatalf("%s(%x): %v", name, args, err)
	}
	if len(results) == 1 && results[0] > 76 {
		t.Errorf("%s(%x) = %d, which is not an error number", name, args, results[0])
	}
	after := bytes.Clone(memory)
	if len(results) == 1 && results[0] == ok {
		for _, s := range claimed(name, args) {
			if s.at+s.n > page {
				t.Fatalf("%s(%x) wrote beyond the memory", name, args)
			}
			clear(before[s.at : s.at+s.n])
			clear(after[s.at : s.at+s.n])
		}
	}
	if !bytes.Equal(before, after) {
		t.Errorf("%s(%x) = %v wrote outside of its results", name, args, results)
	}
	return calls[min(len(calls), len(args)):]
}
