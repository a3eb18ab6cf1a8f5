package js

import "testing"

// TestUnsupportedGlobals checks that a global is undefined if there is a hint for its name.
func TestUnsupportedGlobals(t *testing.T) {
	defined := definedGlobals(&program{engine: New(), script: &script{}})
	for name := range unsupported {
		if defined(name) {
			t.Errorf("tools have %s: remove its hint", name)
		}
	}
	for _, name := range []string{"memory", "console", "setTimeout", "Buffer", "undefined", "Map"} {
		if !defined(name) {
			t.Errorf("%s is not defined", name)
		}
	}
}
