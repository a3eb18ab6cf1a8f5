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
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage"
)

// Options configures a Host. The fields App and Backend are required. Each other field has a
// default value, which applies if the field is zero.
type Options struct {
	// App is the app whose tools the host runs; see app.Load.
	App *app.App
	// Backend stores the records of the app. The host does not close it.
	Backend storage.Backend
	// Engines are the engines that run the tools. Each engine runs the tools whose files have one
	// of its file extensions. Use the engines of a worker pool (engines.NewPool), or
	// engines.InProcess for trusted tools. If you use other engines, load the app with an
	// app.Loader whose Extensions are the result of Options.Extensions. By default there are no
	// engines, so every run fails.
	Engines []engine.Engine
	// Kinds are the kinds of stores that are supported in addition to documents, facts, blocks and
	// the state of agents. If you set Kinds, load the app with an app.Loader that has the same
	// Kinds.
	Kinds []kind.Kind
	// Gate limits the number of concurrent runs and determines which waiting run is admitted next.
	// Use one gate for all hosts of a process. If you use a worker pool, its number of workers
	// should be the number of concurrent runs that the gate admits. By default, the host has its
	// own gate with the limits of admission.OneApp.
	Gate *admission.Gate
	// Observers observe the runs of the host. The observers are called in the order of the slice.
	Observers []Observer
	// Models are the models that the operator offers to tools. Use one set of models for all hosts
	// of a process, because the set counts the tokens. By default, there are no models.
	Models *model.Set
	// Index contains the search indexes of collections. Use one index for all hosts of a process,
	// because the index bounds the memory of all collections. By default, the host has an index of
	// its own.
	Index *index.Set
	// Limits are the limits on runs. Memory contains the limits on the records of the app.
	Limits Limits
	Memory memory.Limits
	// Tenants lists the tenants of the app. Open compares the records of these tenants with the
	// app's declarations, and an open host removes their expired records. The default is
	// DefaultTenant only.
	Tenants []string
	// SweepEvery is the interval at which expired records are removed. If SweepEvery is negative,
	// expired records are not removed automatically. The default is 1 minute.
	SweepEvery time.Duration
	// Ledger is the retention of ledger entries. A ledger entry records the reads and writes of a
	// run. By default, the app has no ledger.
	Ledger time.Duration
	// Metering is the retention of daily usage totals; see Host.Meter. The totals include the
	// number and the CPU time of runs. By default, usage is not metered.
	Metering time.Duration
	// FileURL returns the download URL of an uploaded file. The URL that FileURL returns must be
	// valid until the file expires. By default, uploaded files have no URL.
	FileURL func(tenant string, file artifact.Artifact) string
	// SleepRounds contains the current position in each queue of sleep-time memory. If a process
	// opens and closes hosts, use the same SleepRounds for all of them. By default, the host has
	// SleepRounds of its own.
	SleepRounds *SleepRounds
	// Now is the clock of the host. Rand is a source of random bytes. The host uses it to create
	// ids. Now and Rand must be safe for concurrent use. If the Backend implements storage.Clock,
	// the default for Now is the clock of the Backend. If the Backend does not implement
	// storage.Clock, the default for Now is the clock of the system. The default for Rand is the
	// random source of the system. Guests always have a separate clock and random source.
	Now  func() time.Time
	Rand io.Reader
	// Logger logs details that callers must not see, such as the errors of the backend. By default,
	// details that callers must not see are not logged.
	Logger *slog.Logger
}

// Extensions returns the file extensions of the tools that a Host with these options can run. Pass
// them to app.Loader.
func (o Options) Extensions() []string { return engine.Extensions(engine.Infos(o.Engines)) }

// withDefaults returns a copy of the options. If a field that the Host uses is zero in the
// original, the copy contains the default.
func (o Options) withDefaults() Options {
	if len(o.Tenants) == 0 {
		o.Tenants = []string{DefaultTenant}
	}
	if o.Gate == nil {
		o.Gate, _ = admission.New(admission.OneApp()) // fails only if a limit is negative
	}
	if o.SleepRounds == nil {
		o.SleepRounds = &SleepRounds{}
	}
	if o.Now == nil {
		o.Now = storage.ClockOf(o.Backend)
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
		errs = append(errs, errors.New("host: Options.App is nil; load an app with app.Load"))
	}
	if o.Backend == nil {
		errs = append(errs, errors.New("host: Options.Backend is nil; open a database with bolt.Open"))
	}
	return errors.Join(errs...)
}

// DefaultTenant is the tenant of an invocation whose caller has no tenant.
const DefaultTenant = "default"

// Limits are the limits on every run. A tool can declare stricter limits. If a field is zero, its
// default value applies. Open rejects negative values.
type Limits struct {
	// Timeout is the time limit of a run if neither the tool nor the invocation sets one. All
	// attempts and the time in the queue count toward this limit. The default is 5 seconds.
	Timeout time.Duration
	// Deadline is another time limit of the runs of tools that can make external calls. The time
	// for which a run waits for the answers to its external calls counts toward Deadline, but not
	// toward Timeout. If the Timeout of a run is longer, the Timeout is the deadline. The default
	// is 60 seconds.
	Deadline time.Duration
	// MaxTimeout is the largest time limit that a tool or an invocation can set. The default is 180
	// seconds.
	MaxTimeout time.Duration
	// InputBytes is the maximum size of the input, and also of the context. The default is 1 MiB.
	InputBytes int
	// OutputBytes is the maximum size of the output. The default is 1 MiB.
	OutputBytes int
	// MemoryBytes is the maximum amount of RAM that a guest can use. The limit applies only if the
	// engine supports it. The default depends on the engine and is usually 64 MiB; see
	// engine.DefaultMemory.
	MemoryBytes int64
	// CPU is the maximum CPU time of an attempt in an isolated process. The default is derived from
	// the time limit.
	CPU time.Duration
	// CallDepth is the maximum depth of nested calls in the guest. ValueNesting is the maximum
	// nesting depth of values that the guest and the host exchange. CallDepth has the default 500,
	// and ValueNesting the default 100.
	CallDepth    int
	ValueNesting int
	// Values is the maximum number of values in an input, a context or an output, including nested
	// values. Each value uses a few hundred bytes of RAM while the document is processed. The
	// default is 100,000.
	Values int
	// Fuel is the maximum number of instructions that a WebAssembly guest executes in one attempt;
	// see engine.Limits. The default is derived from the time limit.
	Fuel int64
	// SourceBytes is the maximum size of the entry file of a tool. The default is 64 MiB.
	SourceBytes int
	// LoadTimeout is the time limit of the compilation of a declared tool. A tool is compiled once,
	// and the time to compile it is not charged to a run. If an invocation has a Timeout, it waits
	// for the compilation only for this time. The compilation then continues, and later runs can
	// use its result. The compilation of an ad-hoc tool is part of its run, so the run's time limit
	// applies to it. The default is 30 seconds.
	LoadTimeout time.Duration
	// LogBytes and LogLines are the maximum size and the maximum number of lines of the log of a
	// run. Log lines beyond these limits are dropped, and a final log line reports that lines were
	// dropped. LogBytes has the default 64 KiB, and LogLines the default 1,000.
	LogBytes int
	LogLines int
	// Calls is the maximum number of memory calls of an attempt. The default is 1,000.
	Calls int
	// ExternalCalls is the maximum number of external calls of an attempt, such as requests to
	// models. The default is 64.
	ExternalCalls int
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
		{"Deadline", int64(l.Deadline)}, {"ExternalCalls", int64(l.ExternalCalls)},
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
	setDefault(&l.Deadline, time.Minute)
	setDefault(&l.ExternalCalls, 64)
	return l
}

// For returns the limits that apply to each attempt of a tool. Each limit is either the host's
// limit or the limit that the tool declares, whichever is lower. The argument "memory" is the
// default memory limit of the engine.
func (l Limits) For(own declare.Limits, memory int64) Limits {
	setDefault(&l.MemoryBytes, memory)
	l.MemoryBytes = stricter(l.MemoryBytes, own.Memory)
	l.OutputBytes = int(stricter(int64(l.OutputBytes), own.Output))
	l.Calls = int(stricter(int64(l.Calls), own.Calls))
	l.CPU = stricter(l.CPU, own.CPU)
	l.Fuel = stricter(l.Fuel, own.Fuel)
	return l
}

// stricter returns the smaller of two limits, where 0 means no limit.
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

// timeout returns the time limit of a run. The arguments are the timeout of the tool and the
// timeout of the invocation. If an argument is 0, this timeout is not set. An invocation can
// shorten the timeout that the tool declares, but cannot raise it.
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
