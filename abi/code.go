package abi

// Code names a kind of fault. The list is append-only: a code is on the wire of every surface and never
// changes its meaning. A Code is an error, so that callers write errors.Is(err, abi.AccessDenied).
type Code string

// The fault codes. A guest can cause each of them but Internal, which is always a bug of the host.
const (
	NotFound        Code = "not_found"        // no such store, tool or prompt, or none that this tool was granted
	AccessDenied    Code = "access_denied"    // it exists, but not with this verb, or not for this caller
	ReadOnly        Code = "read_only"        // a write to what only the host writes
	SchemaViolation Code = "schema_violation" // the content does not fit the store's schema
	Conflict        Code = "conflict"         // the record changed, or an idempotency key was used with another input
	NoUser          Code = "no_user"          // a user store, and no user is known
	NoSession       Code = "no_session"       // a session store, and no session is known
	SessionEnded    Code = "session_ended"    // the session is over
	InvalidArgument Code = "invalid_argument" // the call itself is malformed
	TooLarge        Code = "too_large"        // a value is larger or deeper than its limit
	QuotaExceeded   Code = "quota_exceeded"   // the app holds all the bytes or records it may
	Unavailable     Code = "unavailable"      // the backend cannot be reached, or does not know the outcome
	ToolError       Code = "tool_error"       // the tool itself failed
	InputInvalid    Code = "input_invalid"    // the input does not fit the tool's input schema
	OutputInvalid   Code = "output_invalid"   // the output does not fit the tool's output schema
	Timeout         Code = "timeout"          // the run took longer than it may
	MemoryLimit     Code = "memory_limit"     // the run used more memory than it may
	StackLimit      Code = "stack_limit"      // the run called or nested deeper than it may
	OutputLimit     Code = "output_limit"     // the output is larger than it may be
	LogLimit        Code = "log_limit"        // the run logged more than it may
	CallLimit       Code = "call_limit"       // the run called the host more often than it may
	SourceInvalid   Code = "source_invalid"   // the tool's code cannot be loaded
	ABIMismatch     Code = "abi_mismatch"     // the plug-in was built for another version of this contract
	Cancelled       Code = "cancelled"        // whoever asked for the run gave it up
	Internal        Code = "internal"         // a bug of the host
)

// codes holds every code with its number on the wire and the exit code of a command that ends in it.
// The numbers are append-only too: a WASM guest sees minus the number as the result of its call.
var codes = []struct {
	code   Code
	number int
	exit   int
}{
	{NotFound, 1, 1},
	{AccessDenied, 2, 1},
	{ReadOnly, 3, 1},
	{SchemaViolation, 4, 1},
	{Conflict, 5, 4},
	{NoUser, 6, 1},
	{NoSession, 7, 1},
	{SessionEnded, 8, 1},
	{InvalidArgument, 9, 1},
	{TooLarge, 10, 1},
	{QuotaExceeded, 11, 1},
	{Unavailable, 12, 5},
	{ToolError, 13, 1},
	{InputInvalid, 14, 2},
	{OutputInvalid, 15, 1},
	{Timeout, 16, 3},
	{MemoryLimit, 17, 3},
	{StackLimit, 18, 3},
	{OutputLimit, 19, 3},
	{LogLimit, 20, 3},
	{CallLimit, 21, 3},
	{SourceInvalid, 22, 2},
	{ABIMismatch, 23, 2},
	{Cancelled, 24, 3},
	{Internal, 25, 5},
}

// Exit codes of the command line that belong to no fault.
const (
	ExitDone  = 0 // the run succeeded
	ExitUsage = 2 // the command or the app file is wrong
)

// Codes returns every code in the order of its number.
func Codes() []Code {
	all := make([]Code, len(codes))
	for i, c := range codes {
		all[i] = c.code
	}
	return all
}

// Error returns the code itself, which makes a Code the target of errors.Is.
func (c Code) Error() string { return string(c) }

// Number returns the code's number on the wire, which is positive, or 0 for an unknown code.
func (c Code) Number() int {
	for _, e := range codes {
		if e.code == c {
			return e.number
		}
	}
	return 0
}

// Exit returns the exit code of a command that ends in this fault: 1 the tool or what it asked of memory,
// 2 what it was asked to run, 3 a limit, 4 a conflict, 5 the host.
func (c Code) Exit() int {
	for _, e := range codes {
		if e.code == c {
			return e.exit
		}
	}
	return Internal.Exit()
}
