package abi

// Code identifies the kind of a fault. Codes are part of every wire format: new codes can be added,
// but the meaning of a code never changes. Code implements error, so callers can write
// errors.Is(err, abi.AccessDenied).
type Code string

// The fault codes. A guest can cause every fault except Internal, which always indicates a bug in
// the host.
const (
	NotFound        Code = "not_found"        // the store, tool or prompt does not exist or was not granted to the tool
	AccessDenied    Code = "access_denied"    // the grant or the permissions of the caller do not allow this access
	ReadOnly        Code = "read_only"        // only the host can write this data
	SchemaViolation Code = "schema_violation" // the content does not match the store's schema
	Conflict        Code = "conflict"         // the record has changed, or the idempotency key was used for another request
	NoUser          Code = "no_user"          // the store is per-user, but the run has no user
	NoSession       Code = "no_session"       // the store is per-session, but the run has no session
	SessionEnded    Code = "session_ended"    // the session has ended
	InvalidArgument Code = "invalid_argument" // the call itself is malformed
	TooLarge        Code = "too_large"        // a value is larger or deeper than its limit
	QuotaExceeded   Code = "quota_exceeded"   // the app, the tenant or the user has reached a quota
	Unavailable     Code = "unavailable"      // the host is busy, a backend or model cannot be reached, or a commit has an unknown outcome
	ToolError       Code = "tool_error"       // the tool itself failed
	InputInvalid    Code = "input_invalid"    // the input does not match the tool's input schema
	OutputInvalid   Code = "output_invalid"   // the output does not match the tool's output schema
	Timeout         Code = "timeout"          // the run exceeded its time limit
	MemoryLimit     Code = "memory_limit"     // the run exceeded its memory limit
	StackLimit      Code = "stack_limit"      // the run exceeded its limit on call depth or nesting
	OutputLimit     Code = "output_limit"     // the output exceeds its size limit
	LogLimit        Code = "log_limit"        // the run exceeded its limit on log output
	CallLimit       Code = "call_limit"       // the run exceeded its limit on calls to the host
	SourceInvalid   Code = "source_invalid"   // the tool's code cannot be loaded
	ABIMismatch     Code = "abi_mismatch"     // the plug-in was built for another version of the ABI
	Cancelled       Code = "cancelled"        // the caller canceled the run
	Internal        Code = "internal"         // the host has a bug
	NoWorkflow      Code = "no_workflow"      // the data belongs to a workflow, but the run has no workflow and no session
	WorkflowEnded   Code = "workflow_ended"   // the workflow has ended
	NoAgent         Code = "no_agent"         // the data belongs to an agent, but no agent is active
)

// codes lists every code with its number and its meaning. A WebAssembly guest gets the negated
// number as the result of a failed call, so the number of a code never changes.
var codes = []struct {
	code    Code
	number  int
	meaning string
}{
	{NotFound, 1, "the store, tool or prompt does not exist or was not granted to this tool"},
	{AccessDenied, 2, "the grant or the permissions of the caller do not allow this access"},
	{ReadOnly, 3, "only the host can write this data"},
	{SchemaViolation, 4, "the content does not match the store's schema"},
	{Conflict, 5, "the record has changed, or the idempotency key was used for another request"},
	{NoUser, 6, "the store is per-user, but the run has no user"},
	{NoSession, 7, "the store is per-session, but the run has no session"},
	{SessionEnded, 8, "the session has ended"},
	{InvalidArgument, 9, "the call is malformed"},
	{TooLarge, 10, "a value exceeds its size or depth limit"},
	{QuotaExceeded, 11, "the app, the tenant or the user has reached a quota, such as bytes, records or tokens"},
	{Unavailable, 12, "the host is busy or stopping, the backend or a model cannot be reached, or the outcome of a commit is unknown"},
	{ToolError, 13, "the tool failed"},
	{InputInvalid, 14, "the input does not match the tool's input schema"},
	{OutputInvalid, 15, "the output does not match the tool's output schema"},
	{Timeout, 16, "the run exceeded its time limit"},
	{MemoryLimit, 17, "the run exceeded its memory limit"},
	{StackLimit, 18, "the run exceeded its limit on call depth or nesting"},
	{OutputLimit, 19, "the output exceeds its size limit"},
	{LogLimit, 20, "the run exceeded its limit on log output"},
	{CallLimit, 21, "the run exceeded its limit on calls to the host"},
	{SourceInvalid, 22, "the tool's code cannot be loaded"},
	{ABIMismatch, 23, "the plug-in was built for another version of the ABI"},
	{Cancelled, 24, "the caller canceled the run"},
	{Internal, 25, "a bug in the host"},
	{NoWorkflow, 26, "the data belongs to a workflow, but the run has no workflow and no session"},
	{WorkflowEnded, 27, "the workflow has ended"},
	{NoAgent, 28, "the data belongs to an agent, but no agent is active"},
}

// Codes returns all codes, ordered by number.
func Codes() []Code {
	all := make([]Code, len(codes))
	for i, c := range codes {
		all[i] = c.code
	}
	return all
}

// Error returns the code as a string. Error makes a Code usable as the target of errors.Is.
func (c Code) Error() string { return string(c) }

// Number returns the positive number of the code in the ABI, or 0 for an unknown code.
func (c Code) Number() int {
	for _, e := range codes {
		if e.code == c {
			return e.number
		}
	}
	return 0
}

// Meaning returns a description of the code, or "" for an unknown code.
func (c Code) Meaning() string {
	for _, e := range codes {
		if e.code == c {
			return e.meaning
		}
	}
	return ""
}
