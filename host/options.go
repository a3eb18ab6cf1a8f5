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

// Options configures a Host. App and Backend are required. Other zero fields mean the defaults that
// their comments name.
type Options struct {
	// App is the app to run; see app.Load.
	App *app.App
	// Backend stores the records. The host does not close it.
	Backend storage.Backend
	// Engines run the tools, each engine those with its file extensions. Use the engines of a
	// worker pool (engines.NewPool), or engines.InProcess for trusted tools. If there are other
	// engines, load the app with an app.Loader whose Extensions are those of Options.Extensions.
	// Default: none, so that no tool runs.
	Engines []engine.Engine
	// Kinds are the kinds of stores that are supported besides documents. If there are any, load
	// the app with an app.Loader that has them too. Default: none.
	Kinds []kind.Kind
	// Gate decides which runs are admitted when there are more than the machine can execute. Hosts
	// of one process share one gate; a worker pool then has as many workers as the gate admits
	// runs. Default: a gate of its own with the limits of admission.OneApp.
	Gate *admission.Gate
	// Observers observe runs, in this order. Default: none.
	Observers []Observer
	// Limits bounds runs, and Memory bounds the records of the app.
	Limits Limits
	Memory memory.Limits
	// Tenants are the tenants whose records are compared with the app's declarations when the host
	// is opened, and swept while it is open. Default: only DefaultTenant.
	Tenants []string
	// SweepEvery is the interval at which expired records are removed; negative means never.
	// Default 1 minute.
	SweepEvery time.Duration
	// Ledger is how long ledger entries are kept, which record the reads and writes of runs.
	// Default: no ledger.
	Ledger time.Duration
	// Metering is how long the usage of each day is kept: the number of runs and their processor
	// time; see Host.Meter. Default: runs are not metered.
	Metering time.Duration
	// FileURL returns the URL from which an uploaded file can be downloaded until it expires.
	// Default: files have no URL.
	FileURL func(tenant string, file artifact.Artifact) string
	// Now is the clock, and Rand the random source for ids; both must be safe for concurrent use.
	// Default: those of the system. Guests always have their own.
	Now  func() time.Time
	Rand io.Reader
	// Logger receives details that no caller may see, such as backend errors. Default: discarded.
	Logger *slog.Logger
}

// Extensions returns the extensions of the sources that a Host with these options runs, for
// app.Loader.
func (o Options) Extensions() []string { return engine.Extensions(engine.Infos(o.Engines)) }

// withDefaults returns the options with the defaults that the Host itself needs.
func (o Options) withDefaults() Options {
	if len(o.Tenants) == 0 {
		o.Tenants = []string{DefaultTenant}
	}
	if o.Gate == nil {
		o.Gate, _ = admission.New(admission.OneApp()) // fails only for negative limits
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

// DefaultTenant is the tenant of invocations without one.
const DefaultTenant = "default"

// Limits bounds every run. A tool may declare stricter limits. A zero field means the default that
// its comment names. Open rejects negative values.
type Limits struct {
	// Timeout is the time limit of a run whose tool declares none. It includes all attempts and
	// queue time. Default 5 seconds.
	Timeout time.Duration
	// MaxTimeout bounds the timeout that a tool or an invocation may set. Default 180 seconds.
	MaxTimeout time.Duration
	// InputBytes bounds the input and the context, each. Default 1 MiB.
	InputBytes int
	// OutputBytes bounds the output. Default 1 MiB.
	OutputBytes int
	// MemoryBytes bounds a guest's memory, on engines that support it. Default: that of the engine,
	// 64 MiB for most; see engine.DefaultMemory.
	MemoryBytes int64
	// CPU bounds the processor time of an attempt in an isolated process. Default: derived from the
	// time limit.
	CPU time.Duration
	// CallDepth bounds nested calls in the guest, and ValueNesting the nesting of values that the
	// guest and the host exchange. Default 500 and 100.
	CallDepth    int
	ValueNesting int
	// Values bounds the number of values in an input, a context or an output, nested ones included.
	// A value takes some hundred bytes of memory while the document is processed. Default 100,000.
	Values int
	// Fuel bounds the instructions of a WebAssembly guest in an attempt; see engine.Limits.
	// Default: derived from the time limit.
	Fuel int64
	// SourceBytes bounds the entry file of a tool. Default 64 MiB.
	SourceBytes int
	// LoadTimeout bounds the compilation of a tool, which happens once and is not charged to a run.
	// An invocation with a timeout waits no longer than that; the compilation continues for later
	// runs. Code of an invocation is compiled within the time limit of its run. Default 30 seconds.
	LoadTimeout time.Duration
	// LogBytes and LogLines bound the log of a run. The rest is dropped, and a log line reports
	// that. Default 64 KiB and 1,000.
	LogBytes int
	LogLines int
	// Calls bounds the memory calls of an attempt. Default 1,000.
	Calls int
}

// check rejects negative limits.
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

// For returns the limits of a tool's attempts: the stricter of the host's and those that the tool
// declares. memory is the engine's default memory limit.
func (l Limits) For(own declare.Limits, memory int64) Limits {
	setDefault(&l.MemoryBytes, memory)
	l.MemoryBytes = stricter(l.MemoryBytes, own.Memory)
	l.OutputBytes = int(stricter(int64(l.OutputBytes), own.Output))
	l.Calls = int(stricter(int64(l.Calls), own.Calls))
	l.CPU = stricter(l.CPU, own.CPU)
	l.Fuel = stricter(l.Fuel, own.Fuel)
	return l
}

// stricter returns the smaller of two limits. 0 means no limit.
func stricter[T int64 | time.Duration](host, own T) T {
	if host == 0 || own > 0 && own < host {
		return own
	}
	return host
}

// engine returns the limits that an engine enforces.
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

// timeout returns the time limit of a run, given the timeouts of its tool and its invocation, or 0
// for none. An invocation can only shorten what the tool declares.
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
