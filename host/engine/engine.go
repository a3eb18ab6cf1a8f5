package engine

import (
	"context"
	"encoding/json"
	"io/fs"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// Engine runs tools of one language. It is safe for concurrent use.
type Engine interface {
	// Info describes the engine. It is always the same.
	Info() Info
	// Load compiles a source. It runs no guest code. A source that cannot be loaded is an *abi.Fault with
	// code source_invalid and the author's file, line and column.
	Load(ctx context.Context, src Source) (Program, error)
}

// Walled is what an Engine implements that runs its guests in processes of their own, if it does.
type Walled interface {
	// Walled reports whether a process wall is between guests and the host.
	Walled() bool
}

// IsWalled reports whether an engine has a process wall between its guests and the host.
func IsWalled(e Engine) bool {
	w, ok := e.(Walled)
	return ok && w.Walled()
}

// Sized is what an Engine implements whose guests need more memory than those of others, or less.
type Sized interface {
	// MemoryBytes is the memory of a run whose Limits say nothing of it.
	MemoryBytes() int64
}

// MemoryOf returns the memory of a run of an engine whose Limits say nothing of it.
func MemoryOf(e Engine) int64 {
	if s, ok := e.(Sized); ok {
		return s.MemoryBytes()
	}
	return DefaultMemoryBytes
}

// Preparer is what an Engine implements that compiles something once for all its programs, such as an interpreter, and
// keeps it.
type Preparer interface {
	// Prepared reports whether that is compiled already, as far as can be known without waiting. It is for messages: a
	// Load may find out otherwise.
	Prepared() bool
}

// IsPrepared reports whether a Load of an engine compiles nothing but its source. It is true if the engine does not say.
func IsPrepared(e Engine) bool {
	p, ok := e.(Preparer)
	return !ok || p.Prepared()
}

// Source is the code of a tool.
type Source struct {
	// Path is the entry file, relative to Files, with forward slashes. It is also the name that errors show.
	Path string
	// Code is the content of the entry file.
	Code []byte
	// Files serves what the entry imports. It is rooted at the tool's folder and serves nothing outside of it;
	// nil where the tool is one file. An engine opens no file by any other way.
	Files fs.FS
	// Entry names the export of a plug-in to run, where the tool's manifest does; "" is the language's own.
	Entry string
	// Operations is the table of the operations that the tool's memory has. Default: abi.Documents; a table that is empty
	// and not nil means none.
	Operations abi.Table
	// Params are the names of the tool's declared parameters, which some languages bind as variables.
	Params []string
	// Review asks for a static check of the code: the program then implements Reviewer. It costs time, so only a check of
	// an app asks for it. Default false.
	Review bool
	// Domain says whose code this is. Code of two domains is never compiled or run in one process, where the
	// engine uses processes. "" is a domain like any other.
	Domain string
}

// Table returns the operations that the tool's memory has.
func (s Source) Table() abi.Table {
	if s.Operations == nil {
		return abi.Documents()
	}
	return s.Operations
}

// Program is a compiled tool. It is safe for concurrent use.
type Program interface {
	// Run executes the tool once, in a fresh guest. It returns when the guest ended or was stopped: at the
	// latest shortly after ctx ends, whose cause tells a deadline (timeout) from a cancellation (cancelled).
	//
	// The error is an *abi.Fault for what the guest did or ran into. Where Host.Call returned an error that is
	// not an *abi.Fault, the guest was stopped at once, could not catch it, and Run returns that error as it is.
	Run(ctx context.Context, in Input, host Host) (Output, error)
	// Close frees the program; runs under way end first. Closing twice is fine.
	Close() error
}

// Warmer is what a Program implements that has to get ready before it runs for a domain, such as by starting a process.
// Run does so itself, in the time of the run; a host that calls Warm before keeps the two apart.
type Warmer interface {
	// IsWarm reports whether a run for the domain could begin at once, or would have to wait for other runs.
	IsWarm(domain string) bool
	// Warm gets ready for a run for the domain. The error is as those of Run.
	Warm(ctx context.Context, domain string) error
}

// Input is what one run gets.
type Input struct {
	// Input and Context are JSON objects.
	Input   json.RawMessage
	Context json.RawMessage
	Limits  Limits
	// Domain says for whom the run is, within the domain of its source. Runs for two of them never share a process,
	// one after the other included, where the engine uses processes. "" is a domain like any other.
	Domain string
	// Now is what the guest's clock shows at the start; Seed seeds its random source where it is not zero.
	// Both are zero but in tests: then the clock and the random source are the real ones.
	Now  time.Time
	Seed int64
}

// Host is what a guest can reach. Its functions are called by one goroutine at a time, that of Run.
type Host struct {
	// Call performs a memory operation and returns its reply as JSON. An *abi.Fault is raised in the guest,
	// which may catch it; any other error ends the run at once.
	Call func(ctx context.Context, call abi.Call) (json.RawMessage, error)
	// Log takes a log line. An error ends the run at once and is returned by Run as it is.
	Log func(level abi.Level, text string) error
}

// Output is what a guest answered.
type Output struct {
	// Output is the answer as JSON; "null" where the tool returned nothing.
	Output json.RawMessage
	// Context is a JSON object of the keys that the guest added to its context or changed; nil for none.
	Context json.RawMessage
	// Warnings are for the tool's author: what looks like a mistake but is none for sure.
	Warnings []string
	// MemoryBytes is the guest's peak memory, 0 where the engine cannot tell.
	MemoryBytes int64
	// CPU is the processor time of a process that ran the guest for the caller, 0 where the caller's own did. It is
	// set where Run returns an error too.
	CPU time.Duration
}

// Limits bound one run. A zero field means the default that its comment names, never "no limit".
// Time is bounded by the context of Run, calls and logs by the functions of Host.
type Limits struct {
	// CallDepth bounds nested calls. Default 500.
	CallDepth int
	// ValueNesting bounds nested arrays and objects in values that cross. Default 100.
	ValueNesting int
	// OutputBytes bounds the output as JSON. Default 1 MiB.
	OutputBytes int
	// MemoryBytes bounds the guest's memory where the engine can. Default: that of MemoryOf, 64 MiB for most.
	MemoryBytes int64
	// CPU bounds the processor time of a guest that has a process to itself. Default: twice the time until the deadline
	// of Run's context, for a garbage collector may work beside the guest.
	CPU time.Duration
	// Fuel bounds what a WebAssembly guest does, in units of up to 64 instructions, to the next slice of 131,072 units:
	// the same on every machine. Other engines do not look at it. Default: what the time allows.
	Fuel int64
	// LogBytes and LogLines are how much of a log Host.Log still takes in; an engine may keep back what is over.
	// Default 64 KiB and 1,000.
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

	// MaxSourceNesting bounds nested brackets in source code, at load.
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
