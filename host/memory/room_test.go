package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
)

// The RAM that an attempt uses is at most a small multiple of the size of the written records. The
// RAM for many writes of the same record is limited too. Some decoded documents take forty times as
// much memory as their text.
func TestAttemptKeepsEncodedContents(t *testing.T) {
	const stores = 15
	a := newApp(t, func(cfg *memory.Config) {
		cfg.Stores = nil
		for i := range stores {
			cfg.Stores = append(cfg.Stores, declare.Store{Name: fmt.Sprint("s", i), Access: declare.ScopeApplication})
		}
	})
	expensive := json.RawMessage(`{"a":[` + strings.Repeat(`{"a":1},`, 31_000) + `0]}`) // about 250 KiB
	_, err := a.transact(caller("", ""), func(ctx context.Context, v *memory.View) error {
		before := heap()
		for range 5 {
			for i := range stores {
				name := json.RawMessage(fmt.Sprintf(`"s%d"`, i))
				content := append(json.RawMessage(nil), expensive...) // a new slice for each call
				if _, err := v.Call(ctx, abi.Call{Op: abi.SetContent, Args: []json.RawMessage{name, content}}); err != nil {
					return err
				}
			}
		}
		used, texts := heap()-before, int64(stores*len(expensive))
		t.Logf("%d records of %d KiB in all: %d KiB are used", stores, texts>>10, used>>10)
		if used > 2*texts {
			t.Errorf("the attempt holds %d bytes for %d bytes of contents; want at most twice as much", used, texts)
		}
		return errors.New("enough")
	})
	if err == nil || err.Error() != "enough" {
		t.Fatal(err)
	}
}

// heap returns the number of bytes of the heap that are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The attempt keeps its blind merges, because the commit can apply the merges again. If the merges
// would use too much memory, the attempt discards them and adds the record to its read set. The
// read set detects concurrent writes.
func TestManyBlindMerges(t *testing.T) {
	content := `{"a":"` + strings.Repeat("x", 250<<10) + `"}`
	for writes, attempts := range map[int]int{4: 1, 5: 2} {
		a := newApp(t)
		done := a.interfere(ann, func(ctx context.Context, v *memory.View) {
			for range writes {
				mustCall(t, ctx, v, abi.SetContent, `"notes"`, content)
			}
		}, func() { a.must(ann, abi.SetContent, `"notes"`, `{"other":1}`) }, func(context.Context, *memory.View) {})
		if done.Attempts != attempts {
			t.Errorf("%d blind merges of 250 KiB took %d attempts; want %d", writes, done.Attempts, attempts)
		}
		a.want(ann, `"notes"`, content[:len(content)-1]+`,"other":1}`)
	}
}

// The engine owns the memory of a call's arguments and can reuse it after the call.
func TestBlindMergesAreKeptAsGiven(t *testing.T) {
	a := newApp(t)
	argument := []byte(`{"a":1}`)
	a.interfere(ann, func(ctx context.Context, v *memory.View) {
		if _, err := v.Call(ctx, abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"notes"`), argument}}); err != nil {
			t.Fatal(err)
		}
		copy(argument, `{"a":2}`)
	}, func() { a.must(ann, abi.SetContent, `"notes"`, `{"other":1}`) }, func(context.Context, *memory.View) {})
	a.want(ann, `"notes"`, `{"a":1,"other":1}`)
}
