package host

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
)

// Options are what a Host is made of. App and Backend are required; other zero fields mean the defaults that
// their comments name.
type Options struct {
	// App is what the host runs; see app.Load.
	App *app.App
	// Backend keeps the records. The host does not close it.
	Backend storage.Backend
	// Engines run the tools, each those with its extensions: those of a pool of cells, see engines.NewPool, or
	// engines.InProcess where the tools are trusted. If others are among them, the app is loaded with the
	// extensions of Extensions: app.Loader. Default: none, and no tool runs.
	Engines []engine.Engine
	// Kinds are the kinds that stores may have besides documents. If there are others, the app is loaded with their names:
	// app.Loader. Default: none.
	Kinds []kind.Kind
	// Gate decides who runs next where more is asked for than the machine can do. Hosts of one process share one, and
	// a pool of cells then has as many cells as the Gate lets run. Default: one of the host's own, with
	// the limits of admission.OneApp.
	Gate *admission.Gate
	// Observers are told what happens, in their order. Default: none.
	Observers []Observer
	// Limits bound runs, and Memory what the app may keep.
	Limits Limits
	Memory memory.Limits
	// Tenants are those whose records are compared with the app's declarations when the host is opened, and
	// swept while it is open. Default: DefaultTenant alone.
	Tenants []string
	// SweepEvery is how often ended records are freed; negative for never. Default 1 minute.
	SweepEvery time.Duration
	// Ledger is how long it is kept what runs read and wrote. Default: there is no ledger.
	Ledger time.Duration
	// Metering is how long the usage of each day is kept: how many runs there were, and their processor time; see
	// Host.Meter. Default: runs are not metered.
	Metering time.Duration
	// FileURL makes the address at which an uploaded file can be downloaded until it expires. Default: there is none.
	FileURL func(tenant string, file artifact.Artifact) string
	// Now is the clock and Rand the random source for ids; both must be safe for concurrent use. Default: the
	// system's. Guests always have their own.
	Now  func() time.Time
	Rand io.Reader
	// Logger gets what no caller may see, such as the texts of backend errors. Default: discard.
	Logger *slog.Logger
}

// check finds what Open cannot do without, and limits that are none.
// Extensions returns the extensions of the sources that a Host with these options runs, for app.Loader.
func (o Options) Extensions() []string { return engine.Extensions(engine.Infos(o.Engines)) }

// withDefaults returns the options with defaults for what the Host itself needs.
func (o Options) withDefaults() Options {
	if len(o.Tenants) == 0 {
		o.Tenants = []string{DefaultTenant}
	}
	if o.Gate == nil {
		o.Gate, _ = admission.New(admission.OneApp()) // fails for negative limits only
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) check() error {
	errs := []error{o.Limits.check()}
	if o.App == nil {
		errs = append(errs, errors.New("host: Options.App is nil; app.Load reads one"))
	}
	if o.Backend == nil {
		errs = append(errs, errors.New("host: Options.Backend is nil; bolt.Open opens a database"))
	}
	return errors.Join(errs...)
}

// DefaultTenant is the tenant of an invocation that names none.
const DefaultTenant = "default"

// Limits bound every run; a tool may declare tighter ones. A zero field means the default that its comment
// names; Open refuses a negative one.
type Limits struct {
	// Timeout is how long a run may take that declares nothing, all attempts and waiting included.
	// Default 5 seconds.
	Timeout time.Duration
	// MaxTimeout bounds what a tool or an invocation may ask for. Default 180 seconds.
	MaxTimeout time.Duration
	// InputBytes bounds input and context, each. Default 1 MiB.
	InputBytes int
	// OutputBytes bounds the output. Default 1 MiB.
	OutputBytes int
	// MemoryBytes bounds a guest's memory where the engine can. Default: the language's, 64 MiB for most; see
	// engine.MemoryOf.
	MemoryBytes int64
	// CPU bounds the processor time of an attempt whose guest has a process of its own. Default: what the time allows.
	CPU time.Duration
	// CallDepth bounds nested calls in the guest, and ValueNesting nested arrays and objects in what crosses.
	// Default 500 and 100.
	CallDepth    int
	ValueNesting int
	// Values bounds all values in an input, a context or an output, those inside of others included: what the document
	// takes in memory while it is looked at, some hundred bytes a value. Default 100,000.
	Values int
	// Fuel bounds what WebAssembly does in an attempt; see engine.Limits. Default: what the time allows.
	Fuel int64
	// SourceBytes bounds the entry file of a tool. Default 64 MiB.
	SourceBytes int
	// LoadTimeout is how long compiling a tool may take, which happens once and is no part of a run's time. An
	// invocation that asks for a timeout does not wait for longer than that; others then get what was compiled.
	// Code that comes with an invocation is compiled within the time of its run.
	// Default 30 seconds.
	LoadTimeout time.Duration
	// LogBytes and LogLines bound what a run logs; what is over is dropped, with a mark.
	// Default 64 KiB and 1,000.
	LogBytes int
	LogLines int
	// Calls bounds the memory calls of an attempt. Default 1,000.
	Calls int
}

// check refuses negative limits, which would mean neither a default nor a bound.
func (l Limits) check() error {
	var errs []error
	for _, field := range []struct {
		name  string
		value int64
	}{
		{"Timeout", int64(l.Timeout)}, {"MaxTimeout", int64(l.MaxTimeout)},
		{"InputBytes", int64(l.InputBytes)}, {"OutputBytes", int64(l.OutputBytes)}, {"MemoryBytes", l.MemoryBytes},
		{"CPU", int64(l.CPU)}, {"CallDepth", int64(l.CallDepth)}, {"ValueNesting", int64(l.ValueNesting)}, {"Values", int64(l.Values)}, {"Fuel", l.Fuel},
		{"SourceBytes", int64(l.SourceBytes)}, {"LoadTimeout", int64(l.LoadTimeout)},
		{"LogBytes", int64(l.LogBytes)}, {"LogLines", int64(l.LogLines)}, {"Calls", int64(l.Calls)},
	} {
		if field.value < 0 {
			errs = append(errs, fmt.Errorf("host: Limits.%s is negative; 0 means the default", field.name))
		}
	}
	return errors.Join(errs...)
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Timeout, 5*time.Second)
	setDefault(&l.MaxTimeout, 180*time.Second)
	setDefault(&l.InputBytes, 1<<20)
	setDefault(&l.OutputBytes, engine.DefaultOutputBytes)
	setDefault(&l.CallDepth, engine.DefaultCallDepth)
	setDefault(&l.ValueNesting, engine.DefaultValueNesting)
	setDefault(&l.Values, 100_000)
	setDefault(&l.SourceBytes, 64<<20)
	setDefault(&l.LoadTimeout, 30*time.Second)
	setDefault(&l.LogBytes, engine.DefaultLogBytes)
	setDefault(&l.LogLines, engine.DefaultLogLines)
	setDefault(&l.Calls, 1000)
	return l
}

// of returns the limits of a tool's attempts: those that it declares, where they are tighter than the host's. memory is
// the default of its language.
func (l Limits) of(own declare.Limits, memory int64) Limits {
	setDefault(&l.MemoryBytes, memory)
	l.MemoryBytes = tighter(l.MemoryBytes, own.Memory)
	l.OutputBytes = int(tighter(int64(l.OutputBytes), own.Output))
	l.Calls = int(tighter(int64(l.Calls), own.Calls))
	l.CPU = tighter(l.CPU, own.CPU)
	l.Fuel = tighter(l.Fuel, own.Fuel)
	return l
}

// tighter is the smaller of two limits, of which 0 is none.
func tighter[T int64 | time.Duration](host, own T) T {
	if host == 0 || own > 0 && own < host {
		return own
	}
	return host
}

// engine returns what an engine has to know of the limits.
func (l Limits) engine() engine.Limits {
	return engine.Limits{
		CallDepth: l.CallDepth, ValueNesting: l.ValueNesting, OutputBytes: l.OutputBytes, MemoryBytes: l.MemoryBytes,
		CPU: l.CPU, Fuel: l.Fuel, LogBytes: l.LogBytes, LogLines: l.LogLines,
	}
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// timeout returns how long a run may take, given what its tool and its invocation ask for. An invocation may
// only shorten what the tool declares.
func (l Limits) timeout(tool, invocation time.Duration) time.Duration {
	limit := l.Timeout
	if tool > 0 {
		limit = tool
	} else if invocation > limit {
		limit = invocation
	}
	if invocation > 0 && invocation < limit {
		limit = invocation
	}
	return min(limit, l.MaxTimeout)
}
