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

// Language is what workers run. The parent and its workers are to be given the same languages.
type Language struct {
	// New makes the engine. It is called in each worker, and once in the parent, which asks the engine for its name
	// and its extensions and nothing else.
	New func(Setup) engine.Engine
	// BeforeLockdown opens what the engine takes from the system for as long as the worker lives, before the worker locks itself
	// down. Default: nothing.
	BeforeLockdown func()
	// Unsound says why what keeps a guest in the language cannot be trusted on this machine, such as a compiler that is known
	// to make mistakes on its processor. Where Options.Require names a layer, the language is refused then: its tools are
	// unavailable. Default "": it can be trusted.
	Unsound string
	// CacheCode says that compiling takes so long that the result is to be kept in Setup.CacheDir.
	CacheCode bool
	// MemoryFiles says that the engine makes files that lie in memory (memfd_create). Where it does not, its workers cannot:
	// no limit of a process counts what is in such files.
	MemoryFiles bool
	// Shared is what all programs of the language have in common and takes long to make. Default: nothing.
	Shared *Shared
	// ExtraBytes is the memory that the engine needs at most for a run, beside the guest's own. Default 0.
	ExtraBytes int64
	// MemoryBytes is the memory of a run that asks for none in particular. Default engine.DefaultMemoryBytes.
	MemoryBytes int64
}

// Shared is what all programs of a language have in common, such as an interpreter: it is made once, in a worker that is
// there for nothing else and sees no guest, and is kept in the pool's CacheDir for workers of every domain to read.
type Shared struct {
	// Key names what is made, so that another version is another one. The parent's is used.
	Key string
	// Files are what Make reads: absolute paths. The parent's are used.
	Files []string
	// Prepare makes it in Setup.CacheDir, of Setup.Files.
	Prepare func(context.Context, Setup) error
	// Start gets an engine ready that was made with that CacheDir. It is called in each worker before that locks itself down,
	// and so opens all that it needs. What it cannot do, loading a program tries again, and says.
	Start func(context.Context, engine.Engine)
}

// Setup is what a worker has for an engine.
type Setup struct {
	// CacheDir is where the engine finds compiled code, or puts it in a worker that is there to compile; "" for
	// nowhere. An engine must do without it where it cannot be used.
	CacheDir string
	// Files are those that Shared.Make reads, nil elsewhere.
	Files []string
	// Panicked takes what a panic of the engine left behind, which the parent logs.
	Panicked func(value any, stack []byte)
}

// Options are what a Pool is made of. Languages are required; other zero fields mean the defaults that their
// comments name.
type Options struct {
	// Languages are those that workers run.
	Languages []Language
	// Command is the path of a program whose main calls Main with the same languages, such as the toolrun command. Default: the program that is running.
	Command string
	// Workers is how many guests may run at a time; others wait. Default 4 for each processor that Go uses.
	Workers int
	// Idle is how many workers are kept, after their run, for the next one of the same domain. Default: Workers.
	Idle int
	// Spares is how many workers are kept ready that no guest has been in; negative for none. The first ones are
	// started when the first run is over. Default 1.
	Spares int
	// Runs is after how many runs a worker is replaced. To start one for Python takes as much processor time as some hundred
	// runs. Default 10,000.
	Runs int
	// Lifetime is how long after its first run a worker is replaced. Somebody who takes over a worker, by a bug of a language's
	// sandbox, sees the runs of the same app and tenant until then. Default 10 minutes.
	Lifetime time.Duration
	// LoadBytes bounds the memory that compiling a source takes. Default 512 MiB.
	LoadBytes int64
	// LoadTimeout is how long a worker may take to compile a source that another one has compiled. A run that does not wait
	// that long leaves the worker to the next one. Default 30 seconds.
	LoadTimeout time.Duration
	// CacheDir is where compiled code is kept, an absolute path of a folder that is the user's alone; it is made if
	// there is none. Code lies there by its domain, is read by workers of that domain alone, and goes when nobody has asked
	// for it for 30 days. Default: a temporary folder, for as long as the pool is open.
	CacheDir string
	// Require names layers of the Report that New insists on; where one is missing it answers a *MissingError.
	// Default: none.
	Require []string
	// Without names layers that are left out, to find out what each is good for. Default: none.
	Without []string
	// Logger gets what workers leave behind that die for no known reason. Default: discard.
	Logger *slog.Logger
}

// check reports every mistake of the options.
func (o Options) check() error {
	var errs []error
	if len(o.Languages) == 0 {
		errs = append(errs, errors.New("sandbox: Options.Languages is empty"))
	}
	for _, l := range o.Languages {
		if l.New == nil {
			errs = append(errs, errors.New("sandbox: one of the languages has no New"))
		}
		if l.Shared != nil && (l.Shared.Prepare == nil || l.Shared.Start == nil) {
			errs = append(errs, errors.New("sandbox: the Shared of a language lacks Prepare or Start"))
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
		errs = append(errs, fmt.Errorf("sandbox: Options.CacheDir is %q, which is no absolute path", o.CacheDir))
	}
	if o.Command == "" && !mainCalled.Load() {
		errs = append(errs, errors.New("sandbox: this program has not called languages.Main (or sandbox.Main), which comes first of all in main, and in the TestMain of tests: "+
			"its workers are the program itself, started again"))
	}
	for _, name := range slices.Concat(o.Require, o.Without) {
		if !slices.Contains(layers, name) {
			errs = append(errs, fmt.Errorf("sandbox: there is no layer %q; the layers are %v", name, layers))
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
