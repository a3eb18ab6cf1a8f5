package wasm

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/toolrun/toolrun/host/engine"
)

// Description is the metadata of a plug-in.
type Description struct {
	// Bytes is the size of the file in bytes.
	Bytes int `json:"bytes"`
	// Imports contains the sorted names of the imported functions. Each name has the form
	// module.name.
	Imports []string `json:"imports"`
	// Exports contains the sorted names of the exports.
	Exports []string `json:"exports"`
	// MemoryBytes is the initial size of the plug-in's memory in bytes.
	MemoryBytes int64 `json:"memory_bytes"`
}

// Describe returns the metadata of a plug-in. Describe returns the same errors as Load.
func Describe(src engine.Source) (Description, error) {
	m, err := inspect(src.Code, src.Table())
	if err == nil {
		err = inspectEntry(m, cmp.Or(src.Entry, defaultEntry))
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

// Timing contains the durations of two phases of a run: the start and the call.
type Timing struct {
	Start time.Duration // the creation and the initialization of the instance
	Call  time.Duration // running the entry
}

// Measure runs a program of this package once and measures the run.
func Measure(ctx context.Context, loaded engine.Program, in engine.Input, host engine.Host) (Timing, error) {
	p, ok := loaded.(*program)
	if !ok {
		return Timing{}, errors.New("wasm: the program belongs to another engine")
	}
	r, _, err := p.perform(ctx, in, host)
	if r == nil || !r.started {
		return Timing{}, err
	}
	return Timing{Start: r.readyAt.Sub(r.start), Call: time.Since(r.readyAt)}, err
}
