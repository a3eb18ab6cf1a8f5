package engine_test

import (
	"fmt"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
)

func TestLimitsWithDefaults(t *testing.T) {
	defaults := engine.Limits{CallDepth: 500, ValueNesting: 100, OutputBytes: 1 << 20, MemoryBytes: 64 << 20, LogBytes: 64 << 10, LogLines: 1000}
	if got := (engine.Limits{}).WithDefaults(); got != defaults {
		t.Errorf("defaults = %+v; want %+v", got, defaults)
	}
	own := engine.Limits{CallDepth: 1, ValueNesting: 2, OutputBytes: 3, MemoryBytes: 4, CPU: 5, LogBytes: 6, LogLines: 7, Fuel: 8}
	if got := own.WithDefaults(); got != own {
		t.Errorf("WithDefaults = %+v; want %+v", got, own)
	}
}

func ExampleLimits_WithDefaults() {
	limits := engine.Limits{OutputBytes: 4096}.WithDefaults()
	fmt.Println(limits.OutputBytes, limits.CallDepth)
	// Output: 4096 500
}
