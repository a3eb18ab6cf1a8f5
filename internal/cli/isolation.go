package cli

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/python/distribution"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
)

// isolationFlags say what is between tools and this machine.
type isolationFlags struct {
	inProcess, require bool
	layers             []string // that are required in particular
	without            []string
	python             string // the file of the interpreter
}

func (f *isolationFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.inProcess, "inprocess", false, "run tools in this process, without the wall: only for tools that you trust")
	flags.BoolVar(&f.require, "require-isolation", false, "refuse to begin where a layer of the wall is missing, cgroup aside; see toolrun doctor")
	flags.StringSliceVar(&f.layers, "require-layer", nil, "refuse to begin where this `layer` of the wall is missing, such as cgroup")
	flags.StringSliceVar(&f.without, "without", nil, "leave out a `layer` of the wall, to find out what it is good for")
	flags.StringVar(&f.python, "python-wasm", "", "the `file` of the interpreter for Python tools (default: $"+pythonVariable+", or what toolrun python install has installed)")
	_ = cmd.MarkFlagFilename("python-wasm", "wasm")
	_ = flags.MarkHidden("without") // fails only for a flag that does not exist
}

// engineSet is what tools run behind: engines, and the cells that they run guests in.
type engineSet struct {
	engines []engine.Engine
	pool    *sandbox.Pool // nil where there are none
}

// open makes the engines, which log to logger. No process is started before it is needed.
func (f isolationFlags) open(out *console, logger *slog.Logger) (*engineSet, error) {
	if f.inProcess && (f.require || len(f.layers) > 0 || len(f.without) > 0) {
		return nil, usagef("leave one of them out", "--inprocess runs tools without a wall: it goes with none of --require-isolation, --require-layer and --without")
	}
	if f.inProcess {
		return &engineSet{engines: engines.InProcess(engines.WithCache(out.env.cacheFolder("plugins")), engines.WithPanicLog(showPanic(out)), engines.WithPython(f.pythonFile(out.env)))}, nil
	}
	return f.openPool(out.env, sandbox.Options{Spares: -1, Logger: logger})
}

// openPool makes a pool of cells as the flags say.
func (f isolationFlags) openPool(env Env, options sandbox.Options) (*engineSet, error) {
	options.CacheDir, options.Without = env.cacheFolder("cells"), f.without
	options.Require = f.required()
	pool, err := engines.NewPool(options, engines.WithPython(f.pythonFile(env)))
	if missing := (*sandbox.MissingError)(nil); errors.As(err, &missing) {
		f := abi.Faultf(abi.Unavailable, "%v", missing)
		return nil, f.WithHint("toolrun doctor shows all layers; without --require-isolation and --require-layer tools run behind those that there are")
	}
	if err != nil {
		return nil, usagef("toolrun doctor shows the layers that there are", "%v", err)
	}
	return &engineSet{pool.Engines(), pool}, nil
}

// required are the layers that the flags insist on.
func (f isolationFlags) required() []string {
	if f.require {
		return append(sandbox.Baseline(), f.layers...)
	}
	return f.layers
}

// pythonVariable names the interpreter for Python tools where no flag does.
const pythonVariable = "TOOLRUN_PYTHON_WASM"

// pythonFile is the file of the interpreter for Python tools, "" for none.
func (f isolationFlags) pythonFile(env Env) string {
	if named := cmp.Or(f.python, env.Getenv(pythonVariable)); named != "" {
		return env.path(named)
	}
	if env.CacheDir == "" {
		return ""
	}
	file, _ := distribution.Find(env.CacheDir)
	return file
}

// close ends the cells.
func (s *engineSet) close() error {
	if s.pool == nil {
		return nil
	}
	return s.pool.Close()
}

// cacheFolder is a folder of the cache, "" where there is none.
func (e Env) cacheFolder(name string) string {
	if e.CacheDir == "" {
		return ""
	}
	return filepath.Join(e.CacheDir, name)
}

// showPanic shows what a panic of an engine in this process left tools.
func showPanic(out *console) func(engine string, value any, stack []byte) {
	return func(engine string, value any, stack []byte) {
		out.note(red, "panic: ", fmt.Sprintf("the %s engine: %v\n%s", engine, value, stack))
	}
}
