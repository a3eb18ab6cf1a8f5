package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
)

// TestStartFaultNamesTheTenant checks that the error at startup contains the tenant if the scope of
// a store has changed.
func TestStartFaultNamesTheTenant(t *testing.T) {
	moved := &memory.ScopeChangedError{Store: "notes", Was: declare.ScopeUser, Is: declare.ScopeApplication, Records: 1}
	f := faultOf(startFault(fmt.Errorf("tenant %q: %w", "acme", moved)))
	if f.Code != abi.SourceInvalid || !strings.Contains(f.Message, `"acme"`) || !strings.Contains(f.Message, `"notes"`) {
		t.Errorf("the fault is %+v; want source_invalid with tenant and store", f)
	}
}
