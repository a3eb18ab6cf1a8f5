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

// Language describes an engine that runs in workers. The parent and its workers must be given the
// same languages.
type Language struct {
	// New makes the engine. It is called in each worker, and once in the parent, which uses only
	// the name and the extensions of the engine.
	New func(Setup) engine.Engine
	// BeforeLockdown acquires the system resources that the engine needs for the life of the
	// worker. It is called before the worker locks itself down. Default: nothing.
	BeforeLockdown func()
	// Unsound is the reason why the language's own sandbox cannot be trusted on this machine, such
	// as a compiler with known errors on its processor. If Options.Require names a layer, such a
	// language is rejected and its tools are unavailable. Default "": it can be trusted.
	Unsound string
	// CacheCode reports whether compiled code should be kept in Setup.CacheDir because compiling is
	// slow.
	CacheCode bool
	// MemoryFiles reports whether the engine creates files in memory (memfd_create). Workers of
	// other engines cannot create them, because no process limit counts their content.
	MemoryFiles bool
	// Shared is state that all programs of the language have in common and that is slow to prepare.
	// Default: nothing.
	Shared *Shared
	// ExtraBytes is the most memory that the engine needs for a run besides the guest's own.
	// Default 0.
	ExtraBytes int64
	// MemoryBytes is the default memory limit of a run. Default engine.DefaultMemoryBytes.
	MemoryBytes int64
}

// Shared is state that all programs of a language have in common, such as an interpreter. It is
// prepared once, in a worker that does nothing else and never sees a guest. It is kept in the
// pool's CacheDir, where workers of every domain can read it.
type Shared struct {
	// Key identifies a version of the state. The parent's value is used.
	Key string
	// Files are the absolute paths of the files that Prepare reads. The parent's value is used.
	Files []string
	// Prepare writes the state to Setup.CacheDir, from Setup.Files.
	Prepare func(context.Context, Setup) error
	// Start loads the prepared state into an engine that was made with the same CacheDir. It is
	// called in each worker before the lockdown, so it opens everything that it needs. If it fails,
	// loading a program tries again and reports the error.
	Start func(context.Context, engine.Engine)
}

// Setup is the environment that a worker gives to an engine.
type Setup struct {
	// CacheDir is the folder of compiled code. An engine reads it, and writes it in a worker that
	// only compiles. It is "" if there is none. An engine must work even if the folder cannot be
	// used.
	CacheDir string
	// Files are the files that Shared.Prepare reads. They are nil elsewhere.
	Files []string
	// Panicked receives the value and the stack of a panic of the engine. The parent logs them.
	Panicked func(value any, stack []byte)
}

// Options configures a Pool. Languages are required. Zero values of other fields mean the defaults
// in their comments.
type Options struct {
	// Languages are the languages that workers run.
	Languages []Language
	// Command is the path of a program whose main calls Main with the same languages, such as the
	// toolrun command. Default: the current program.
	Command string
	// Workers is the maximum number of concurrent guests; others wait. Default 4 for each processor
	// that Go uses.
	Workers int
	// Idle is the maximum number of workers that are kept after a run for the next run of the same
	// domain. Default: Workers.
	Idle int
	// Spares is the number of ready workers that have not run a guest; negative for none. The first
	// ones are started after the first run. Default 1.
	Spares int
	// Runs is the number of runs after which a worker is replaced. Starting one for Python takes as
	// much processor time as some hundred runs. Default 10,000.
	Runs int
	// Lifetime is the time from the first run of a worker to its replacement. An attacker who takes
	// over a worker, by a bug in a language's sandbox, sees the runs of the same app and tenant
	// until then. Default 10 minutes.
	Lifetime time.Duration
	// LoadBytes limits the memory for compiling a source. Default 512 MiB.
	LoadBytes int64
	// LoadTimeout limits the time in which a worker compiles a source that another worker has
	// compiled before. If a run ends earlier, the worker is kept for the next run. Default 30
	// seconds.
	LoadTimeout time.Duration
	// CacheDir is the folder of compiled code: an absolute path that only the user can access. It
	// is created if missing. Code is stored by domain, and only workers of that domain can read it.
	// Code that is not used for 30 days is removed. Default: a temporary folder that exists as long
	// as the pool.
	CacheDir string
	// Require names layers that New requires. If one is missing, New returns a *MissingError.
	// Default: none.
	Require []string
	// Without names layers that are disabled, to find out what each of them protects. Default:
	// none.
	Without []string
	// Logger receives the exit state and standard error of workers that die for an unknown reason.
	// Default: discard.
	Logger *slog.Logger
}

// check returns every error in the options.
func (o Options) check() error {
	var errs []error
	if len(o.Languages) == 0 {
		errs = append(errs, errors.New("sandbox: Options.Languages is empty"))
	}
	for _, l := range o.Languages {
		if l.New == nil {
			errs = append(errs, errors.New("sandbox: a language has no New"))
		}
		if l.Shared != nil && (l.Shared.Prepare == nil || l.Shared.Start == nil) {
			errs = append(errs, errors.New("sandbox: Language.Shared lacks Prepare or Start"))
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
		errs = append(errs, fmt.Errorf("sandbox: Options.CacheDir is %q, which is not an absolute path", o.CacheDir))
	}
	if o.Command == "" && !mainCalled.Load() {
		errs = append(errs, errors.New("sandbox: this program has not called engines.Main (or sandbox.Main); call it first in main, and in TestMain: "+
			"its workers are new processes of the same program"))
	}
	for _, name := range slices.Concat(o.Require, o.Without) {
		if !slices.Contains(layers, name) {
			errs = append(errs, fmt.Errorf("sandbox: unknown layer %q; the layers are %v", name, layers))
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
