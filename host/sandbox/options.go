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

// A Language describes an engine that runs in workers. The parent and its workers must use equal
// lists of languages.
type Language struct {
	// New creates the engine. New is called once in each worker and once in the parent. The parent
	// uses only the name and the extensions of the returned engine.
	New func(Setup) engine.Engine
	// BeforeLockdown acquires system resources. The engine needs these resources as long as the
	// worker runs. Each worker calls BeforeLockdown before it locks itself down. BeforeLockdown can
	// be nil.
	BeforeLockdown func()
	// Unsound is the reason why the language's own sandbox cannot be trusted on this machine, or
	// "". For example, the compiler can have known errors on the machine's type of processor. If
	// Unsound is not "" and Options.Require is not empty, the tools of the language fail with the
	// code abi.Unavailable.
	Unsound string
	// CacheCode is true if compiled code must be cached in Setup.CacheDir. A cache is useful if
	// compilation is slow.
	CacheCode bool
	// MemoryFiles is true if the engine creates memory files (see memfd_create). Workers of other
	// engines cannot create memory files, because no limit of a process counts the content of
	// memory files.
	MemoryFiles bool
	// Shared is state that all programs of the language share. Its preparation is slow. If the
	// language has no shared state, Shared is nil.
	Shared *Shared
	// ExtraBytes is the maximum memory that the engine needs for a run, in bytes. The memory of the
	// guest is not included. The default is 0.
	ExtraBytes int64
	// MemoryBytes is the default memory limit of a run. If MemoryBytes is 0, the default is
	// engine.DefaultMemoryBytes.
	MemoryBytes int64
}

// Shared describes state that all programs of a language share. An example is an interpreter. The
// state is prepared only once. The worker that prepares it does nothing else and never runs a
// guest. The state is stored in the CacheDir of the pool. Workers of all domains can read the
// state.
type Shared struct {
	// Key identifies the version of the state. Workers ignore Key.
	Key string
	// Files contains the absolute paths of files. Prepare reads these files. Workers ignore
	// Shared.Files.
	Files []string
	// Prepare reads Setup.Files and writes the state to Setup.CacheDir.
	Prepare func(context.Context, Setup) error
	// Start loads the prepared state into an engine. The engine was created with the same CacheDir.
	// Each worker calls Start before its lockdown. Start must open all files that it needs. If
	// Start fails, the next load of a program calls Start again and reports the error.
	Start func(context.Context, engine.Engine)
}

// Setup describes the environment of an engine. A worker passes the Setup to the engine.
type Setup struct {
	// CacheDir is the folder with compiled code. If the worker has no such folder, CacheDir is "".
	// An engine reads the compiled code. If a worker only compiles, its engine also writes compiled
	// code to this folder. If CacheDir cannot be used, an engine must nevertheless work.
	CacheDir string
	// Files contains the files that Shared.Prepare can read. If a worker does not call
	// Shared.Prepare, Files is nil.
	Files []string
	// Panicked receives the value and the stack of a panic in the engine. The parent logs both.
	Panicked func(value any, stack []byte)
}

// Options configures a Pool. Languages is required. If another field has the zero value, its
// default applies. The comment of the field contains the default.
type Options struct {
	// Languages contains the languages that workers can run.
	Languages []Language
	// Command is the path of a program that calls Main with the same languages. An example is the
	// toolrun command. The default of Command is the path of the running program.
	Command string
	// Workers is the maximum number of guests that run concurrently. Further runs wait. The default
	// of Workers is 4 for each processor that Go uses.
	Workers int
	// Idle limits how many workers the pool keeps after their runs. These workers wait for the next
	// run of the same domain. The default is Workers.
	Idle int
	// Spares is the number of ready workers that have not yet run a guest. If Spares is negative,
	// the pool keeps no such workers. The pool starts the first spares after the first run. The
	// default is 1.
	Spares int
	// Runs is the maximum number of runs of a worker. After these runs, the worker is replaced. The
	// start of a Python worker needs as much processor time as a few hundred runs. The default is
	// 10,000.
	Runs int
	// Lifetime is the age at which a worker is replaced. The age begins with the first run of the
	// worker. An attacker could use a bug in a language's sandbox to control a worker. Until the
	// worker is replaced, the attacker can then see runs of the same app and tenant. The default
	// Lifetime is 10 minutes.
	Lifetime time.Duration
	// LoadBytes is the memory limit for the compilation of a source, in bytes. The default of
	// LoadBytes is 512 MiB.
	LoadBytes int64
	// LoadTimeout is the time limit for a compilation in a further worker, after another worker has
	// compiled the same source. If the run ends before the compilation, the pool keeps the worker
	// for the next run. The default of LoadTimeout is 30 seconds.
	LoadTimeout time.Duration
	// CacheDir is the folder in which compiled code is cached. CacheDir must be an absolute path,
	// and only the user may have access to it. If CacheDir does not exist, the pool creates it. The
	// code of each domain is stored separately. Only workers of this domain can read the code. If
	// code has not been used for 30 days, it is removed. The default of CacheDir is a temporary
	// folder. The temporary folder exists as long as the pool.
	CacheDir string
	// Require contains the names of layers that must be available. If a required layer is missing,
	// New returns a *MissingError. The default is none.
	Require []string
	// Without contains the names of layers to disable. To find out what a layer protects, disable
	// the layer. The default is none.
	Without []string
	// Logger receives the exit state and the standard error of a worker that dies for an unknown
	// reason. The default discards them.
	Logger *slog.Logger
}

// check returns all errors in the options.
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
