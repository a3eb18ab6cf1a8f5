package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/toolrun/toolrun/host/engine"
)

// Language describes an engine that runs in workers. The parent and its workers must have the same
// list of languages.
type Language struct {
	// New creates the engine. New is called in each worker and once in the parent. The parent uses
	// only the name and the extensions of the engine that New returns.
	New func(Setup) engine.Engine
	// BeforeLockdown acquires the system resources that the engine needs as long as the worker
	// runs. BeforeLockdown is called before the worker locks itself down. BeforeLockdown can be
	// nil.
	BeforeLockdown func()
	// Unsound is the reason why the language's own sandbox cannot be trusted on this machine, or ""
	// if the sandbox can be trusted. For example, a compiler can have known errors on the machine's
	// processor. If Options.Require is not empty, the tools of a language with a nonempty Unsound
	// fail with the code abi.Unavailable.
	Unsound string
	// CacheCode reports whether to cache compiled code in Setup.CacheDir because compilation is
	// slow.
	CacheCode bool
	// MemoryFiles reports whether the engine creates files in memory (memfd_create). Workers of
	// other engines cannot create files in memory, because no process limit counts the content of
	// files in memory.
	MemoryFiles bool
	// Shared is state that all programs of the language share and that is slow to prepare. If
	// Shared is nil, the language has no shared state.
	Shared *Shared
	// ExtraBytes is the maximum memory in bytes that the engine needs for a run in addition to the
	// guest's memory. The default is 0.
	ExtraBytes int64
	// MemoryBytes is the default memory limit of a run. If MemoryBytes is 0,
	// engine.DefaultMemoryBytes is used.
	MemoryBytes int64
}

// Shared is state that all programs of a language share, such as an interpreter. Shared is prepared
// once, in a worker that does nothing else and never runs a guest. Shared is stored in the pool's
// CacheDir. Workers of all domains can read the state.
type Shared struct {
	// Key identifies a version of the state. Workers ignore Key.
	Key string
	// Files contains the absolute paths of the files that Prepare reads. Workers ignore
	// Shared.Files.
	Files []string
	// Prepare reads Setup.Files and writes the state to Setup.CacheDir.
	Prepare func(context.Context, Setup) error
	// Start loads the prepared state into an engine that was created with the same CacheDir. Start
	// is called in each worker before the lockdown and must open everything that it needs. If Start
	// fails, loading a program tries again and reports the error.
	Start func(context.Context, engine.Engine)
}

// Setup is the environment that a worker passes to an engine.
type Setup struct {
	// CacheDir is the folder of compiled code, or "" if the worker has no folder for compiled code.
	// An engine reads the compiled code. In a worker that only compiles, the engine also writes
	// compiled code. An engine must work even if CacheDir cannot be used.
	CacheDir string
	// Files contains the files that Shared.Prepare reads. Files is nil in workers that do not call
	// Shared.Prepare.
	Files []string
	// Panicked receives the value and the stack of a panic in the engine. The parent logs both.
	Panicked func(value any, stack []byte)
}

// Options configures a Pool. Languages is required. For any other field with the zero value, the
// default in the comment of the field applies.
type Options struct {
	// Languages contains the languages that the workers run.
	Languages []Language
	// Command is the path of a program that calls Main with the same languages, such as the toolrun
	// command. The default of Command is the path of the current program.
	Command string
	// Workers is the maximum number of concurrent guests. Further runs wait. The default is 4 for
	// each processor that Go uses.
	Workers int
	// Idle is the maximum number of workers that the pool keeps after a run for the next run of the
	// same domain. The default is Workers.
	Idle int
	// Spares is the number of ready workers that have not run a guest. A negative number disables
	// spares. The first spares are started after the first run. The default is 1.
	Spares int
	// Runs is the number of runs after which a worker is replaced. Starting a Python worker takes
	// as much processor time as a few hundred runs. The default is 10,000.
	Runs int
	// Lifetime is the age at which a worker is replaced, counted from its first run. If a bug in a
	// language's sandbox lets an attacker take over a worker, the attacker can see the runs of the
	// same app and tenant until the worker is replaced. The default Lifetime is 10 minutes.
	Lifetime time.Duration
	// LoadBytes is the memory limit for compiling a source, in bytes. The default of LoadBytes is
	// 512 MiB.
	LoadBytes int64
	// LoadTimeout is the time limit for compiling a source that another worker has compiled before.
	// If the run ends during the compilation, the pool keeps the worker for the next run. The
	// default of LoadTimeout is 30 seconds.
	LoadTimeout time.Duration
	// CacheDir is the folder of compiled code. CacheDir is an absolute path that only the user can
	// access. CacheDir is created if it does not exist. Code is stored by domain, and only workers
	// of the code's domain can read the code. Code that has not been used for 30 days is removed.
	// The default is a temporary folder that exists as long as the pool.
	CacheDir string
	// Require contains the names of layers that New requires. If a layer is missing, New returns a
	// *MissingError. The default is none.
	Require []string
	// Without contains the names of layers to disable. Disable a layer to find out what the layer
	// protects. The default is none.
	Without []string
	// Logger receives the exit state and the standard error of workers that die for an unknown
	// reason. The default discards them.
	Logger *slog.Logger
}

// The method "check" returns all errors in the options.
func (o Options) check() error {
	var errs []error
	if len(o.Languages) == 0 {
		errs = append(errs, errors.New("sandbox: Options.Languages is empty"))
	}
	for _, l := range o.Languages {
		if l.New == nil {
			errs = append(errs, errors.New("sandbox: Language.New is nil"))
		}
		if l.Shared != nil && (l.Shared.Prepare == nil || l.Shared.Start == nil) {
			errs = append(errs, errors.New("sandbox: Language.Shared.Prepare or Language.Shared.Start is nil"))
		}
	}
	for _, n := range []struct {
		name  string
		value int64
	}{{"Workers", int64(o.Workers)}, {"Idle", int64(o.Idle)}, {"Runs", int64(o.Runs)}, {"Lifetime", int64(o.Lifetime)}, {"LoadBytes", o.LoadBytes}, {"LoadTimeout", int64(o.LoadTimeout)}} {
		if n.value < 0 {
			errs = append(errs, fmt.Errorf("sandbox: Options.%s is negative; 0 means the default", n.name))
		}
	}
	if o.CacheDir != "" && !filepath.IsAbs(o.CacheDir) {
		errs = append(errs, fmt.Errorf("sandbox: Options.CacheDir %q is not an absolute path", o.CacheDir))
	}
	if o.Command == "" && !mainCalled.Load() {
		errs = append(errs, errors.New("sandbox: engines.Main (or sandbox.Main) was not called; call it at the start of main and of TestMain, because "+
			"workers are new processes of the same program"))
	}
	for _, name := range slices.Concat(o.Require, o.Without) {
		if !slices.Contains(layers, name) {
			errs = append(errs, fmt.Errorf("sandbox: the layer %q is unknown; the layers are %v", name, layers))
		}
	}
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	if o.Workers == 0 {
		o.Workers = 4 * runtime.GOMAXPROCS(0)
	}
	if o.Idle == 0 {
		o.Idle = o.Workers
	}
	if o.Spares == 0 {
		o.Spares = 1
	}
	o.Spares = max(o.Spares, 0)
	if o.Runs == 0 {
		o.Runs = 10_000
	}
	if o.Lifetime == 0 {
		o.Lifetime = 10 * time.Minute
	}
	if o.LoadBytes == 0 {
		o.LoadBytes = 512 << 20
	}
	if o.LoadTimeout == 0 {
		o.LoadTimeout = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
