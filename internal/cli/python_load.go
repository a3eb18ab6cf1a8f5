package cli

import (
	"context"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/python/distribution"
)

// pythonEngine is the name of the engine for Python.
const pythonEngine = "python"

// announceLoads returns engines of which that for Python says when loading a tool takes long: the first time it compiles the
// interpreter.
func announceLoads(out *console, engines []engine.Engine) []engine.Engine {
	list := make([]engine.Engine, len(engines))
	for i, e := range engines {
		if list[i] = e; e.Info().Name == pythonEngine {
			list[i] = announced{e, out}
		}
	}
	return list
}

// announced is an engine whose loading is announced.
type announced struct {
	engine.Engine
	out *console
}

var (
	_ engine.Walled = announced{}
	_ engine.Sized  = announced{}
)

// Load is the engine's.
func (a announced) Load(ctx context.Context, src engine.Source) (program engine.Program, err error) {
	const doing = "getting Python " + distribution.Version + " ready"
	load := func() error {
		program, err = a.Engine.Load(ctx, src)
		return err
	}
	if engine.IsPrepared(a.Engine) { // what takes long is the tool, or the machine is busy
		err = a.out.progress(doing, load)
		return program, err
	}
	err = a.out.announce(doing, "the first time it is compiled, which may take half a minute", load)
	return program, err
}

// Walled is what it is of the engine.
func (a announced) Walled() bool { return engine.IsWalled(a.Engine) }

// MemoryBytes is what it is of the engine.
func (a announced) MemoryBytes() int64 { return engine.MemoryOf(a.Engine) }
