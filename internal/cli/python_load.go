package cli

import (
	"context"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/python/distribution"
)

// pythonEngine is the name of the engine for Python.
const pythonEngine = "python"

// announceLoads wraps the Python engine in an engine that announces slow loads. The first load is
// slow because it compiles the interpreter.
func announceLoads(out *console, engines []engine.Engine) []engine.Engine {
	list := make([]engine.Engine, len(engines))
	for i, e := range engines {
		if list[i] = e; e.Info().Name == pythonEngine {
			list[i] = announced{e, out}
		}
	}
	return list
}

// announced is an engine that announces slow loads.
type announced struct {
	engine.Engine
	out *console
}

var (
	_ engine.Isolated        = announced{}
	_ engine.MemoryDefaulter = announced{}
)

// Load loads a program with the wrapped engine, and announces a slow load.
func (a announced) Load(ctx context.Context, src engine.Source) (program engine.Program, err error) {
	const doing = "getting Python " + distribution.Version + " ready"
	load := func() error {
		program, err = a.Engine.Load(ctx, src)
		return err
	}
	if engine.IsPrepared(a.Engine) { // the interpreter is already compiled
		err = a.out.progress(doing, load)
		return program, err
	}
	err = a.out.announce(doing, "the first use compiles the Python runtime, which takes up to half a minute", load)
	return program, err
}

// Isolated returns the value of the wrapped engine.
func (a announced) Isolated() bool { return engine.IsIsolated(a.Engine) }

// MemoryBytes returns the value of the wrapped engine.
func (a announced) MemoryBytes() int64 { return engine.DefaultMemory(a.Engine) }
