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
	Conflict        Code = "conflict"         // the record changed, or an idempotency key was used for another request
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
	Cancelled       Code = "cancelled"        // the caller cancelled the run
	Internal        Code = "internal"         // a bug of the host
)

// codes holds every code with its number on the wire and its meaning.
// The numbers are append-only too: a WASM guest sees minus the number as the result of its call.
var codes = []struct {
	code    Code
	number  int
	meaning string
}{
	{NotFound, 1, "no such store, tool or prompt, or none that this tool was granted"},
	{AccessDenied, 2, "it exists, but not with this verb, or not for this caller"},
	{ReadOnly, 3, "a write to what only the host writes"},
	{SchemaViolation, 4, "the content does not fit the store's schema"},
	{Conflict, 5, "the record changed, or an idempotency key was used for another request"},
	{NoUser, 6, "a user store, and no user is known"},
	{NoSession, 7, "a session store, and no session is known"},
	{SessionEnded, 8, "the session is over"},
	{InvalidArgument, 9, "the call itself is malformed"},
	{TooLarge, 10, "a value is larger or deeper than its limit"},
	{QuotaExceeded, 11, "the app holds all the bytes or records it may"},
	{Unavailable, 12, "the backend cannot be reached, or does not know the outcome"},
	{ToolError, 13, "the tool itself failed"},
	{InputInvalid, 14, "the input does not fit the tool's input schema"},
	{OutputInvalid, 15, "the output does not fit the tool's output schema"},
	{Timeout, 16, "the run took longer than it may"},
	{MemoryLimit, 17, "the run used more memory than it may"},
	{StackLimit, 18, "the run called or nested deeper than it may"},
	{OutputLimit, 19, "the output is larger than it may be"},
	{LogLimit, 20, "the run logged more than it may"},
	{CallLimit, 21, "the run called the host more often than it may"},
	{SourceInvalid, 22, "the tool's code cannot be loaded"},
	{ABIMismatch, 23, "the plug-in was built for another version of this contract"},
	{Cancelled, 24, "the caller cancelled the run"},
	{Internal, 25, "a bug of the host"},
}

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

// Meaning says in words what the code stands for, "" for an unknown code.
func (c Code) Meaning() string {
	for _, e := range codes {
		if e.code == c {
			return e.meaning
		}
	}
	return ""
}
