// Package exitcode defines the exit codes of the command line. Scripts rely on these codes, so the
// meaning of a code never changes.
package exitcode

import "github.com/toolrun/toolrun/abi"

// Exit codes.
const (
	Done     = 0 // the command succeeded
	Refused  = 1 // the tool failed, or a memory operation was rejected
	Usage    = 2 // the command, the app file or the source of a tool is wrong
	Limit    = 3 // the run exceeded a limit or was canceled
	Conflict = 4 // other runs changed the same records
	Host     = 5 // the host or its database failed
)

// Of returns the exit code for a fault code. Of treats an unknown code like the code abi.Internal.
func Of(code abi.Code) int {
	switch code {
	case abi.NotFound, abi.AccessDenied, abi.ReadOnly, abi.SchemaViolation, abi.NoUser, abi.NoSession, abi.SessionEnded, abi.NoWorkflow, abi.WorkflowEnded, abi.NoAgent,
		abi.InvalidArgument, abi.TooLarge, abi.QuotaExceeded, abi.ToolError, abi.OutputInvalid:
		return Refused
	case abi.InputInvalid, abi.SourceInvalid, abi.ABIMismatch:
		return Usage
	case abi.Timeout, abi.MemoryLimit, abi.StackLimit, abi.OutputLimit, abi.LogLimit, abi.CallLimit, abi.Cancelled:
		return Limit
	case abi.Conflict:
		return Conflict
	}
	return Host
}
