package engine

import (
	"context"
	"encoding/json"
	"io/fs"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// Engine compiles and runs tools of one language or format. Engine is safe for concurrent use.
type Engine interface {
	// Info returns the description of the engine. The description never changes.
	Info() Info
	// Load compiles a source. Load does not run guest code. The error for an invalid source is an
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

// MemoryDefaulter is implemented by engines that define a default memory limit.
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

// Preparer is implemented by engines that compile a shared component, such as an interpreter, once
// for all programs.
type Preparer interface {
	// Prepared reports, without waiting, whether the shared component appears to be compiled. Use
	// the result only for messages, because Load may still have to compile.
	Prepared() bool
}

// IsPrepared reports whether Load has to compile only the source. IsPrepared returns true for
// engines that do not implement Preparer.
func IsPrepared(e Engine) bool {
	p, ok := e.(Preparer)
	return !ok || p.Prepared()
}

// Source is the source code of a tool.
type Source struct {
	// Path is the entry file, relative to Files, with forward slashes. Errors contain Path as the
	// file name.
	Path string
	// Code is the content of the entry file.
	Code []byte
	// Files contains the files that the entry file can import. Files is confined to the tool's
	// folder. Files is nil if the tool is a single file. Engines open files only through Files.
	Files fs.FS
	// Entry is the plug-in export to run, if the tool's manifest names one. The default entry
	// depends on the language.
	Entry string
	// Operations is the table of memory operations that the tool can call. If Operations is nil,
	// the tool can call the operations in abi.Documents. An empty table allows no operations.
	Operations abi.Table
	// Params are the names of the tool's declared parameters, which some languages bind as
	// variables.
	Params []string
	// Review requests a static check of the code. If Review is true, the loaded program implements
	// Reviewer. Only app checks request a review, because a review takes time.
	Review bool
	// Domain is the isolation domain of the code. Engines that use worker processes never compile
	// or run code from two domains in one process. The empty string is a separate domain.
	Domain string
}

// Table returns the memory operations that the tool can call.
func (s Source) Table() abi.Table {
	if s.Operations == nil {
		return abi.Operations()
	}
	return s.Operations
}

// Program is a compiled tool. Program is safe for concurrent use.
type Program interface {
	// Run executes the tool once, in a fresh guest. Run returns when the guest has ended, or
	// shortly after ctx ends. The cause of ctx distinguishes a deadline (timeout) from a
	// cancellation (cancelled).
	//
	// An error from the guest is an *abi.Fault. If Host.Call returns an error that is not an
	// *abi.Fault, the engine stops the guest at once, the guest cannot catch the error, and Run
	// returns the error unchanged.
	Run(ctx context.Context, in Input, host Host) (Output, error)
	// Close frees the program after active runs have ended. Close can be called more than once.
	Close() error
}

// Warmer is implemented by programs that need preparation, such as a new process, before their
// first run for a domain. Run can do the preparation itself, but preparation in Run counts toward
// the time of the run. A host calls Warm first, so that the preparation does not count toward the
// time of the run.
type Warmer interface {
	// IsWarm reports whether Warm has nothing left to prepare. If IsWarm returns true, a run for
	// the domain starts at once or waits only for other runs.
	IsWarm(domain string) bool
	// Warm prepares a run for the domain. Warm returns the same errors as Run.
	Warm(ctx context.Context, domain string) error
}

// Input is the input of one run.
type Input struct {
	// Input and Context are JSON objects.
	Input   json.RawMessage
	Context json.RawMessage
	Limits  Limits
	// Domain is the isolation domain of the run's caller, within the domain of the source. An
	// engine with worker processes never uses one process for guests of two domains, even if the
	// guests run one after the other. The empty string is a separate domain.
	Domain string
	// Now is the initial time of the guest's clock, and Seed is the seed of its random source. A
	// zero Now selects the real clock, and a zero Seed selects the real random source. If Frozen is
	// true, the guest's clock always shows Now. Timers and monotonic clocks still advance. Tests
	// and repeatable runs set Now, Seed and Frozen.
	Now    time.Time
	Seed   int64
	Frozen bool
}

// Host contains the functions that a guest can call. Only the goroutine of Run calls the functions
// of a Host, so the calls are never concurrent.
type Host struct {
	// Call performs a memory operation and returns its reply as JSON. An *abi.Fault is raised as an
	// error in the guest, which can catch it. An error that is not an *abi.Fault ends the run at
	// once.
	Call func(ctx context.Context, call abi.Call) (json.RawMessage, error)
	// Begin begins an external operation and returns its id, which is not 0. Await waits for the
	// answer to any of the pending operations, and returns the answer with the id of its operation.
	// Await returns each answer only once. If the argument "until" is not zero and no answer
	// arrives before the time "until", the id is 0. The errors of Begin and Await have the same
	// meaning as the errors of Call. A fault from Await comes with the id of its operation, and a
	// fault from Begin has no id. The host may delay the operations until Await is called. Begin
	// and Await are nil if a run needs only Call, which also performs external operations.
	Begin func(call abi.Call) (id uint64, err error)
	Await func(ctx context.Context, until time.Time) (id uint64, reply json.RawMessage, err error)
	// Log receives a log line. If Log returns an error, the run ends at once and Run returns that
	// error unchanged.
	Log func(level abi.Level, text string) error
}

// Output is the result of a guest.
type Output struct {
	// Output is the tool's return value as JSON, or "null" if the tool returned nothing.
	Output json.RawMessage
	// Context is a JSON object of the context keys that the guest added or changed, or nil if there
	// are none.
	Context json.RawMessage
	// Warnings describe possible mistakes in the code, for the tool's author.
	Warnings []string
	// MemoryBytes is the guest's peak memory in bytes, or 0 if the engine cannot measure it.
	MemoryBytes int64
	// CPU is the processor time of the worker process that ran the guest, or 0 if the guest ran in
	// this process. CPU is also set if Run returns an error.
	CPU time.Duration
}

// Limits contains the limits of one run. A zero field selects the default in the field's comment.
// Zero never means "no limit". The context of Run bounds the run time. The functions of Host bound
// the calls and the logs.
type Limits struct {
	// CallDepth bounds nested function calls. The default is 500.
	CallDepth int
	// ValueNesting bounds the nesting of arrays and objects in values that the guest and the host
	// exchange. The default is 100.
	ValueNesting int
	// OutputBytes bounds the output as JSON. The default is 1 MiB.
	OutputBytes int
	// MemoryBytes bounds the guest's memory if the engine supports a memory limit. The default is
	// the result of DefaultMemory, which is 64 MiB for most engines.
	MemoryBytes int64
	// CPU bounds the processor time of a guest that runs in its own process. The default is twice
	// the time until the deadline of Run's context, because a garbage collector may run in parallel
	// with the guest.
	CPU time.Duration
	// Fuel bounds the number of instructions that a WebAssembly guest can execute. One unit is up
	// to 64 instructions. The limit is rounded up to a multiple of 131,072 units. The same run uses
	// the same fuel on every machine. Other engines ignore Fuel. By default, only the deadline
	// bounds the guest.
	Fuel int64
	// LogBytes and LogLines bound the log output that Host.Log still accepts. An engine can drop
	// any further output. The default is 64 KiB for LogBytes and 1,000 for LogLines.
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

	// MaxSourceNesting is the maximum nesting depth of brackets in loaded source code.
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
