package snapshot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// TestSaved opens a saved image with an independent runtime, as another process would.
func TestSaved(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "memory")
	first := counterImage(t, snapshot.Options{})
	in := restore(t, first)
	for range 3 {
		call(t, ctx, in.Guest(), "count")
	}
	captured, err := in.Capture()
	if err != nil {
		t.Fatal(err)
	}
	saved, err := captured.Save(file)
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(memoryOf(t, in.Guest()))
	closeInstance(t, in)
	text, err := json.Marshal(saved)
	if err != nil {
		t.Fatal(err)
	}

	var read snapshot.Saved
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	runtime := withPause(t, func(context.Context) {})
	compiled, module := compile(t, runtime, counter)
	opened, err := snapshot.Open(runtime, compiled, module, snapshot.Options{}, file, read)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close(ctx)
	for range 2 { // the second iteration reuses the instance of the first iteration
		in := restore(t, opened)
		if !bytes.Equal(memoryOf(t, in.Guest()), want) {
			t.Error("the memory differs from the saved one")
		}
		if got := call(t, ctx, in.Guest(), "count"); got != 11 {
			t.Errorf("count = %d; want 11, the saved value plus 1", got)
		}
		clear(memoryOf(t, in.Guest()))
		closeInstance(t, in)
	}
}

func TestSavedOfAnotherModule(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory")
	image := counterImage(t, snapshot.Options{})
	saved, err := image.Save(file)
	if err != nil {
		t.Fatal(err)
	}
	runtime := withPause(t, func(context.Context) {})
	compiled, module := compile(t, runtime, counter)
	saved.Globals = append(saved.Globals, 1)
	if _, err := snapshot.Open(runtime, compiled, module, snapshot.Options{}, file, saved); err == nil {
		t.Error("Open accepted an image with a different number of globals")
	}
}
