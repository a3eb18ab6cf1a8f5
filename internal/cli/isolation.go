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

// isolationFlags contains the flags that select how tools are isolated from this machine.
type isolationFlags struct {
	inProcess, require bool
	layers             []string // the layers that the command requires
	without            []string
	python             string // the file that contains the Python interpreter
}

func (f *isolationFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.inProcess, "inprocess", false, "run tools in this process, without isolation; only for tools that you trust")
	flags.BoolVar(&f.require, "require-isolation", false, "fail if an isolation layer other than cgroup is missing; see toolrun doctor")
	flags.StringSliceVar(&f.layers, "require-layer", nil, "fail if this isolation `layer` is missing, such as cgroup")
	flags.StringSliceVar(&f.without, "without", nil, "disable an isolation `layer`, for tests")
	flags.StringVar(&f.python, "python-wasm", "", "the `file` of the interpreter for Python tools (default: $"+pythonVariable+", or the installed runtime, see toolrun python)")
	_ = cmd.MarkFlagFilename("python-wasm", "wasm")
	_ = flags.MarkHidden("without") // an error is possible only if the flag does not exist
}

// engineSet contains engines and a pool of worker processes. The guests of the engines run in the
// worker processes.
type engineSet struct {
	engines []engine.Engine
	pool    *sandbox.Pool // the pool is nil if guests run in this process
}

// open creates the engines. The engines write their log to the argument "logger". open starts no
// process.
func (f isolationFlags) open(out *console, logger *slog.Logger) (*engineSet, error) {
	if f.inProcess && (f.require || len(f.layers) > 0 || len(f.without) > 0) {
		return nil, usagef("omit one of the conflicting flags", "--inprocess runs tools without isolation and cannot be combined with --require-isolation, --require-layer or --without")
	}
	if f.inProcess {
		return &engineSet{engines: engines.InProcess(engines.WithCache(out.env.cacheFolder("plugins")), engines.WithPanicLog(showPanic(out)), engines.WithPython(f.pythonFile(out.env)))}, nil
	}
	return f.openPool(out.env, sandbox.Options{Spares: -1, Logger: logger})
}

// openPool creates a pool of worker processes with the layers that the flags require.
func (f isolationFlags) openPool(env Env, options sandbox.Options) (*engineSet, error) {
	options.CacheDir, options.Without = env.cacheFolder("cells"), f.without
	options.Require = f.required()
	pool, err := engines.NewPool(options, engines.WithPython(f.pythonFile(env)))
	if missing := (*sandbox.MissingError)(nil); errors.As(err, &missing) {
		f := abi.Faultf(abi.Unavailable, "%v", missing)
		return nil, f.WithHint("list the layers with `toolrun doctor`, or omit --require-isolation and --require-layer to use the available layers")
	}
	if err != nil {
		return nil, usagef("list the available layers with `toolrun doctor`", "%v", err)
	}
	return &engineSet{pool.Engines(), pool}, nil
}

// required returns the isolation layers that must be active according to the flags.
func (f isolationFlags) required() []string {
	if f.require {
		return append(sandbox.Baseline(), f.layers...)
	}
	return f.layers
}

// pythonVariable is an environment variable. If no flag names the file with the Python interpreter,
// the value of the environment variable is the path of the file.
const pythonVariable = "TOOLRUN_PYTHON_WASM"

// pythonFile returns the path of the Python interpreter, or "" if no interpreter is installed.
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

// close stops the worker processes.
func (s *engineSet) close() error {
	if s.pool == nil {
		return nil
	}
	return s.pool.Close()
}

// cacheFolder returns the path of a subfolder of the cache, or "" if no cache exists.
func (e Env) cacheFolder(name string) string {
	if e.CacheDir == "" {
		return ""
	}
	return filepath.Join(e.CacheDir, name)
}

// showPanic returns a function that prints a panic of an engine. The engine runs in this process.
func showPanic(out *console) func(engine string, value any, stack []byte) {
	return func(engine string, value any, stack []byte) {
		out.note(red, "panic: ", fmt.Sprintf("the %s engine: %v\n%s", engine, value, stack))
	}
}
