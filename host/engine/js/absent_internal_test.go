package js

import "testing"

// TestAbsentGlobals: a hint says that tools do not have a global only if that is so.
func TestAbsentGlobals(t *testing.T) {
	defined := definedGlobals(&program{engine: New(), script: &script{}})
	for name := range absent {
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
