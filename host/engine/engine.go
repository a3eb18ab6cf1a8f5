package engine

import (
	"context"
	"encoding/json"
	"io/fs"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// Engine compiles and runs tools that are written in one language or format. An Engine is safe for
// concurrent use.
type Engine interface {
	// Info returns the description of the engine. The description never changes.
	Info() Info
	// Load compiles a source. Load does not run guest code. If the source is invalid, the error is
	// an *abi.Fault with the code source_invalid. The fault contains the position in the author's
	// file.
	Load(ctx context.Context, src Source) (Program, error)
}

// Isolated is an optional interface of an Engine. Engines that can run guests in isolated worker
// processes implement it.
type Isolated interface {
	// Isolated reports whether guests run in isolated processes.
	Isolated() bool
}

// IsIsolated reports whether an engine runs its guests in isolated processes.
func IsIsolated(e Engine) bool {
	i, ok := e.(Isolated)
	return ok && i.Isolated()
}

// MemoryDefaulter is an optional interface of an Engine. Engines with their own default memory
// limit implement it.
type MemoryDefaulter interface {
	// MemoryBytes returns the memory limit that a run has by default.
	MemoryBytes() int64
}

// DefaultMemory returns the memory limit that runs on an engine have by default.
func DefaultMemory(e Engine) int64 {
	if m, ok := e.(MemoryDefaulter); ok {
		return m.MemoryBytes()
	}
	return DefaultMemoryBytes
}

// Preparer is an optional interface of an Engine. An engine implements it if all its programs need
// a component that is compiled once, such as an interpreter.
type Preparer interface {
	// Prepared reports whether the shared component is probably already compiled. Prepared does not
	// wait. The result should be used only in messages, because Load might still have to compile
	// the component.
	Prepared() bool
}

// IsPrepared reports whether the source is the only thing that Load must compile. If an engine does
// not implement Preparer, IsPrepared returns true.
func IsPrepared(e Engine) bool {
	p, ok := e.(Preparer)
	return !ok || p.Prepared()
}

// Source is the source code of a tool.
type Source struct {
	// Path is the path of the entry file, relative to Files, with forward slashes. Errors contain
	// Path as the name of the file.
	Path string
	// Code is the content of the entry file.
	Code []byte
	// Files contains the files that the entry file can import directly or indirectly. Files
	// provides access only to files in the tool's folder. If the tool is a single file, Files is
	// nil. Engines open files only through Files.
	Files fs.FS
	// Entry is the name of the export that runs the plug-in, if the tool's manifest contains such a
	// name. If Entry is "", the language determines the entry.
	Entry string
	// Operations is the table of the memory operations that the tool can call. If Operations is
	// nil, the tool can call the operations in abi.Documents. If Operations is not nil but empty,
	// the tool can call no operations.
	Operations abi.Table
	// Params contains the names of the parameters that the tool declares. In some languages, the
	// parameters become variables.
	Params []string
	// If Review is true, the code is checked without running it. In this case, the loaded program
	// implements Reviewer. A review takes time, so it is requested only when an app is checked.
	Review bool
	// Domain is the isolation domain to which the code belongs. If an engine uses worker processes,
	// no process compiles or runs code from two domains. The empty string is also a domain.
	Domain string
}

// Table returns the memory operations that the tool can call.
func (s Source) Table() abi.Table {
	if s.Operations == nil {
		return abi.Operations()
	}
	return s.Operations
}

// Program is a compiled tool. A Program is safe for concurrent use.
type Program interface {
	// Run executes the tool once, in a new guest. Run returns when the guest has ended. If ctx ends
	// first, Run returns shortly afterwards. If ctx ends, its cause determines whether the fault is
	// a timeout or cancelled.
	//
	// If the guest fails, the error is an *abi.Fault. If Host.Call returns an error that is not an
	// *abi.Fault, the engine stops the guest at once. The guest cannot catch this error, and Run
	// returns it unchanged.
	Run(ctx context.Context, in Input, host Host) (Output, error)
	// Close frees the program after all active runs have ended. Close can be called several times.
	Close() error
}

// Warmer is an optional interface of a Program. A program implements it if the first run for a
// domain needs a preparation, such as a new process. If nothing is prepared, Run does the
// preparation itself, which then counts as run time. A host should call Warm before Run, so that
// the preparation does not count as run time.
type Warmer interface {
	// IsWarm reports whether the preparation is complete. If IsWarm returns true, a run for the
	// domain can start at once, unless it must wait for other runs.
	IsWarm(domain string) bool
	// Warm prepares a run for the domain. Warm can return the same errors as Run.
	Warm(ctx context.Context, domain string) error
}

// Input is the input that one run receives.
type Input struct {
	// Input and Context are JSON objects.
	Input   json.RawMessage
	Context json.RawMessage
	Limits  Limits
	// Domain is the isolation domain of the run's caller. Domain is a part of the domain
	// of the source. If an engine uses worker processes, a process never runs guests of two
	// domains, not even one after the other. The empty string is also a domain.
	Domain string
	// Now is the time that the guest's clock shows when the run begins. If Now is zero, the guest
	// has the real clock. Seed is the seed of the guest's random source. If Seed is zero, the guest
	// has the real random source. If Frozen is true, the clock always shows Now. Even then, timers
	// and monotonic clocks advance. Now, Seed and Frozen are set by tests, and for runs that must
	// be repeatable.
	Now    time.Time
	Seed   int64
	Frozen bool
}

// Host contains functions of the host that a guest can call. Only the goroutine that executes Run
// calls these functions, so the calls are never concurrent.
type Host struct {
	// Call performs a memory operation. Call returns the reply of the operation as JSON. If the
	// error is an *abi.Fault, it becomes an error in the guest, and the guest can catch it. Any
	// other error ends the run at once.
	Call func(ctx context.Context, call abi.Call) (json.RawMessage, error)
	// Begin begins an external operation. Begin returns the id of this operation, which is not 0.
	// Await waits until any of the pending operations has an answer. Await returns the answer, and
	// the id of the operation. Await returns no answer twice. If the argument "until" is not zero,
	// Await waits only until this time. If no answer arrives before, the returned id is 0. An error
	// of Begin or Await has the same meaning as an error of Call. If Await returns a fault, it also
	// returns the id of the operation. If Begin returns a fault, the id is empty. The host can delay
	// the operations until Await is called. Call can also perform external operations. If a run
	// needs only Call, Begin and Await are nil.
	Begin func(call abi.Call) (id uint64, err error)
	Await func(ctx context.Context, until time.Time) (id uint64, reply json.RawMessage, err error)
	// Log receives each line that the guest logs. If Log returns an error, the run ends at once,
	// and Run returns this error unchanged.
	Log func(level abi.Level, text string) error
}

// Output is the result that a guest returns.
type Output struct {
	// Output is the value that the tool returned, as JSON. If the tool returned nothing, Output is
	// "null".
	Output json.RawMessage
	// Context is a JSON object. Context contains the context keys that the guest added or changed.
	// If there are none, Context is nil.
	Context json.RawMessage
	// Warnings describe possible mistakes in the code. They are for the author of the tool.
	Warnings []string
	// MemoryBytes is the maximum memory that the guest used, in bytes. If the engine cannot measure
	// it, MemoryBytes is 0.
	MemoryBytes int64
	// CPU is the processor time of the worker process that ran the guest. If the guest ran in this
	// process, CPU is 0. CPU is set even if Run returns an error.
	CPU time.Duration
}

// Limits contains the limits that apply to one run. If a field is zero, the default in the comment
// of the field applies. Zero never means "no limit". The context of Run limits the run time. The
// functions of Host limit the calls and the logs.
type Limits struct {
	// CallDepth limits nested function calls. The default is 500.
	CallDepth int
	// ValueNesting limits how deeply arrays and objects are nested in values that the guest and the
	// host exchange. The default is 100.
	ValueNesting int
	// OutputBytes limits the size of the output, encoded as JSON. The default is 1 MiB.
	OutputBytes int
	// MemoryBytes limits the memory of the guest, if the engine supports a memory limit. The
	// default is the value that DefaultMemory returns. For most engines, it is 64 MiB.
	MemoryBytes int64
	// CPU limits the processor time of a guest that has its own process. The default is twice the
	// remaining time of Run's context, because a garbage collector can run at the same time as the
	// guest.
	CPU time.Duration
	// Fuel limits the number of instructions that a WebAssembly guest executes. One unit stands for
	// up to 64 instructions. The limit is rounded up to a multiple of 131,072 units. If a run is
	// repeated on another machine, it uses the same fuel. Other engines ignore Fuel. By default,
	// the instructions of a guest are not limited, only its time.
	Fuel int64
	// LogBytes and LogLines limit the log output that Host.Log accepts. An engine can drop further
	// output. The default of LogBytes is 64 KiB, and the default of LogLines is 1,000.
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

	// MaxSourceNesting is the maximum nesting depth of brackets in source code.
	MaxSourceNesting = 1000
)

// WithDefaults returns a copy of the Limits in which each zero field has its default.
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
