package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
)

// TestStartFaultNamesTheTenant keeps the tenant of a store that moved in the error with which a service does not start.
func TestStartFaultNamesTheTenant(t *testing.T) {
	moved := &memory.ScopeChangedError{Store: "notes", Was: declare.ScopeUser, Is: declare.ScopeApplication, Records: 1}
	f := faultOf(startFault(fmt.Errorf("for the tenant %q: %w", "acme", moved)))
	if f.Code != abi.SourceInvalid || !strings.Contains(f.Message, `"acme"`) || !strings.Contains(f.Message, `"notes"`) {
		t.Errorf("the fault is %+v; want source_invalid with tenant and store", f)
	}
}
