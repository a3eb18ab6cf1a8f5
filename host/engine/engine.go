package engine

import (
	"context"
	"encoding/json"
	"io/fs"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// Engine compiles and runs tools of one language or format. It is safe for concurrent use.
type Engine interface {
	// Info returns the description of the engine. It never changes.
	Info() Info
	// Load compiles a source. It does not run guest code. The error for an invalid source is an
	// *abi.Fault with the code source_invalid and the position in the author's file.
	Load(ctx context.Context, src Source) (Program, error)
}

// Isolated is implemented by engines that can run guests in isolated worker processes.
type Isolated interface {
	// Isolated reports whether guests run in isolated processes.
	Isolated() bool
}

// IsIsolated reports whether an engine runs its guests in isolated processes.
func IsIsolated(e Engine) bool {
	i, ok := e.(Isolated)
	return ok && i.Isolated()
}

// MemoryDefaulter is implemented by engines with a default memory limit of their own.
type MemoryDefaulter interface {
	// MemoryBytes returns the default memory limit of a run.
	MemoryBytes() int64
}

// DefaultMemory returns the default memory limit of runs on an engine.
func DefaultMemory(e Engine) int64 {
	if m, ok := e.(MemoryDefaulter); ok {
		return m.MemoryBytes()
	}
	return DefaultMemoryBytes
}

// Preparer is implemented by engines that compile something once for all programs, such as an
// interpreter, and keep it.
type Preparer interface {
	// Prepared reports whether this compilation is done, as far as is known without waiting. Use it
	// only for messages: Load may have to compile nevertheless.
	Prepared() bool
}

// IsPrepared reports whether Load compiles only the source. It is true for engines that are not
// Preparers.
func IsPrepared(e Engine) bool {
	p, ok := e.(Preparer)
	return !ok || p.Prepared()
}

// Source is the source code of a tool.
type Source struct {
	// Path is the entry file, relative to Files, with forward slashes. Errors report it as the file
	// name.
	Path string
	// Code is the content of the entry file.
	Code []byte
	// Files contains the files that the entry file may import. It is confined to the tool's folder,
	// and nil if the tool is a single file. An engine opens files only through it.
	Files fs.FS
	// Entry is the exported function of a plug-in to run, if the tool's manifest names one.
	// Default: that of the language.
	Entry string
	// Operations is the table of memory operations that the tool can call. Default: abi.Documents.
	// A table that is empty but not nil means none.
	Operations abi.Table
	// Params are the names of the tool's declared parameters, which some languages bind as
	// variables.
	Params []string
	// Review requests a static check of the code: the program then implements Reviewer. The check
	// takes time, so only checks of an app request it. Default false.
	Review bool
	// Domain is the isolation domain that the code belongs to. Engines that use worker processes
	// never compile or run code of two domains in one process. "" is a domain of its own.
	Domain string
}

// Table returns the memory operations that the tool can call.
func (s Source) Table() abi.Table {
	if s.Operations == nil {
		return abi.Documents()
	}
	return s.Operations
}

// Program is a compiled tool. It is safe for concurrent use.
type Program interface {
	// Run executes the tool once, in a fresh guest. It returns when the guest has ended, at the
	// latest shortly after ctx ends. The cause of ctx distinguishes a deadline (timeout) from a
	// cancellation (cancelled).
	//
	// The error is an *abi.Fault if it comes from the guest. If Host.Call returns an error that is
	// not an *abi.Fault, the guest is stopped at once, without a chance to catch it, and Run
	// returns that error unchanged.
	Run(ctx context.Context, in Input, host Host) (Output, error)
	// Close frees the program after active runs have ended. It is safe to call it more than once.
	Close() error
}

// Warmer is implemented by programs that prepare something before the first run for a domain, such
// as a process. Run does so itself, within the time of the run. A host calls Warm first, to keep
// the preparation out of the run's time.
type Warmer interface {
	// IsWarm reports whether Warm has nothing to prepare: a run for the domain could begin at once,
	// or only waits for other runs.
	IsWarm(domain string) bool
	// Warm prepares a run for the domain. Its errors are those of Run.
	Warm(ctx context.Context, domain string) error
}

// Input is the input of one run.
type Input struct {
	// Input and Context are JSON objects.
	Input   json.RawMessage
	Context json.RawMessage
	Limits  Limits
	// Domain is the isolation domain of the run's caller, within the domain of the source. Engines
	// that use worker processes never run two domains in one process, not even one after the other.
	// "" is a domain of its own.
	Domain string
	// Now is the guest's clock at the start of the run, and Seed the seed of its random source. If
	// one is zero, the guest gets the real clock or random source. Only tests set them.
	Now  time.Time
	Seed int64
}

// Host contains the functions that a guest can call. They are called by one goroutine at a time,
// that of Run.
type Host struct {
	// Call performs a memory operation and returns its reply as JSON. An *abi.Fault is raised in
	// the guest, which may catch it. Any other error ends the run at once.
	Call func(ctx context.Context, call abi.Call) (json.RawMessage, error)
	// Log receives a log line. An error ends the run at once, and Run returns it unchanged.
	Log func(level abi.Level, text string) error
}

// Output is the result of a guest.
type Output struct {
	// Output is the tool's return value as JSON, "null" if it returned nothing.
	Output json.RawMessage
	// Context is a JSON object of the context keys that the guest added or changed, nil if there
	// are none.
	Context json.RawMessage
	// Warnings are possible mistakes, for the tool's author.
	Warnings []string
	// MemoryBytes is the guest's peak memory, 0 if the engine cannot measure it.
	MemoryBytes int64
	// CPU is the processor time of the worker process that ran the guest, 0 if the guest ran in
	// this process. It is also set if Run returns an error.
	CPU time.Duration
}

// Limits bounds one run. A zero field means the default that its comment names, never "no limit".
// The context of Run bounds the time. The functions of Host bound calls and logs.
type Limits struct {
	// CallDepth bounds nested function calls. Default 500.
	CallDepth int
	// ValueNesting bounds the nesting of arrays and objects in values that the guest and the host
	// exchange. Default 100.
	ValueNesting int
	// OutputBytes bounds the output as JSON. Default 1 MiB.
	OutputBytes int
	// MemoryBytes bounds the guest's memory, on engines that support it. Default: see DefaultMemory,
	// 64 MiB for most engines.
	MemoryBytes int64
	// CPU bounds the processor time of a guest in a process of its own. Default: twice the time
	// until the deadline of Run's context, since a garbage collector may run in parallel with the
	// guest.
	CPU time.Duration
	// Fuel bounds the instructions of a WebAssembly guest, in units of up to 64 instructions,
	// rounded up to slices of 131,072 units. The same run uses the same fuel on every machine.
	// Other engines ignore it. Default: no bound besides the deadline.
	Fuel int64
	// LogBytes and LogLines are the amount of log that Host.Log still accepts. An engine may drop
	// the rest. Default 64 KiB and 1,000.
	LogBytes int
	LogLines int
}

// The defaults of Limits.
const (
	DefaultCallDepth    = 500
	DefaultValueNesting = 100
	DefaultOutputBytes  = 1 << 20
	DefaultMemoryBytes  = 64 << 20
	DefaultLogBytes     = 64 << 10
	DefaultLogLines     = 1000

	// MaxSourceNesting bounds nested brackets in source code that is loaded.
	MaxSourceNesting = 1000
)

// WithDefaults returns l with every zero field set to its default.
func (l Limits) WithDefaults() Limits {
	if l.CallDepth == 0 {
		l.CallDepth = DefaultCallDepth
	}
	if l.ValueNesting == 0 {
		l.ValueNesting = DefaultValueNesting
	}
	if l.OutputBytes == 0 {
		l.OutputBytes = DefaultOutputBytes
	}
	if l.MemoryBytes == 0 {
		l.MemoryBytes = DefaultMemoryBytes
	}
	if l.LogBytes == 0 {
		l.LogBytes = DefaultLogBytes
	}
	if l.LogLines == 0 {
		l.LogLines = DefaultLogLines
	}
	return l
}
