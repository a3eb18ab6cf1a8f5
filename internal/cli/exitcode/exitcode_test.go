package exitcode_test

import (
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/cli/exitcode"
)

// TestOf checks that every fault code has its documented exit code. It fails if a new fault code
// has no exit code in the table.
func TestOf(t *testing.T) {
	want := map[abi.Code]int{
		abi.NotFound: 1, abi.AccessDenied: 1, abi.ReadOnly: 1, abi.SchemaViolation: 1, abi.Conflict: 4, abi.NoUser: 1,
		abi.NoSession: 1, abi.SessionEnded: 1, abi.NoWorkflow: 1, abi.WorkflowEnded: 1, abi.NoAgent: 1, abi.InvalidArgument: 1, abi.TooLarge: 1, abi.QuotaExceeded: 1,
		abi.Unavailable: 5, abi.ToolError: 1, abi.InputInvalid: 2, abi.OutputInvalid: 1, abi.Timeout: 3, abi.MemoryLimit: 3,
		abi.StackLimit: 3, abi.OutputLimit: 3, abi.LogLimit: 3, abi.CallLimit: 3, abi.SourceInvalid: 2, abi.ABIMismatch: 2,
		abi.Cancelled: 3, abi.Internal: 5,
	}
	for _, code := range abi.Codes() {
		exit, known := want[code]
		if !known {
			t.Errorf("the code %s has no exit code in this test: add one", code)
		}
		if got := exitcode.Of(code); got != exit {
			t.Errorf("Of(%s) = %d; want %d", code, got, exit)
		}
	}
	if got := exitcode.Of("of a later version"); got != 5 {
		t.Errorf("the exit code of an unknown code = %d; want 5", got)
	}
}
