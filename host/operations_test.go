package host_test

import (
	"context"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engine"
)

// TestEnginesGetTheTable checks that each engine.Source contains the table of the host's
// operations.
func TestEnginesGetTheTable(t *testing.T) {
	var tables []abi.Table
	h := openTool(t, ``, stub{load: func(_ context.Context, src engine.Source) error {
		tables = append(tables, src.Operations)
		return nil
	}}.with(nil))
	for _, inv := range []host.Invocation{{Tool: "tool"}, {Tool: "code", Code: &host.AdHocTool{Language: "javascript", Text: "return 1"}}} {
		if _, err := h.Run(t.Context(), inv); err != nil {
			t.Fatal(err)
		}
	}
	if len(tables) != 2 {
		t.Fatalf("there were %d loads; want one of the tool and one of the code", len(tables))
	}
	for _, table := range tables {
		if table.Key() != abi.Operations().Key() {
			t.Errorf("the table is %s; want the operations of memory", table.Key())
		}
	}
}
