package wasm

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/toolrun/toolrun/host/engine"
)

// Description is what a plug-in shows of itself.
type Description struct {
	// Bytes is the size of the file.
	Bytes int `json:"bytes"`
	// Imports are the functions that it may call, as module.name in the order of their names.
	Imports []string `json:"imports"`
	// Exports are the names that it exports, sorted.
	Exports []string `json:"exports"`
	// MemoryBytes is the memory that it starts with.
	MemoryBytes int64 `json:"memory_bytes"`
}

// Describe reads a plug-in and says what it is. The error is that of Load.
func Describe(src engine.Source) (Description, error) {
	m, err := inspect(src.Code, src.Table())
	if err == nil {
		err = inspectEntry(m, orElse(src.Entry, defaultEntry))
	}
	if err != nil {
		return Description{}, named(src, err)
	}
	d := Description{Bytes: len(src.Code)}
	for _, i := range m.Imports {
		d.Imports = append(d.Imports, i.Module+"."+i.Name)
	}
	for _, e := range m.Exports {
		d.Exports = append(d.Exports, e.Name)
	}
	slices.Sort(d.Imports)
	slices.Sort(d.Exports)
	d.Imports, d.Exports = slices.Compact(d.Imports), slices.Compact(d.Exports)
	if m.Memory != nil {
		d.MemoryBytes = int64(m.Memory.Min) << 16
	}
	return d, nil
}

// Timing is how long the parts of one run took.
type Timing struct {
	Start time.Duration // making a fresh instance and initialising it
	Call  time.Duration // the entry
}

// Measure runs a program of this package once, and says what took how long.
func Measure(ctx context.Context, loaded engine.Program, in engine.Input, host engine.Host) (Timing, error) {
	p, ok := loaded.(*program)
	if !ok {
		return Timing{}, errors.New("wasm: the program is not one of this engine")
	}
	r, _, err := p.perform(ctx, in, host)
	if r == nil || !r.started {
		return Timing{}, err
	}
	return Timing{Start: r.begun.Sub(r.start), Call: time.Since(r.begun)}, err
}
