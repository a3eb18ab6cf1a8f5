package main

import (
	"maps"
	"slices"
	"strings"
)

// computing names, by their packages, the tests that compute for long in one goroutine, in which the race detector finds
// nothing and takes ten times as long. They run without it. No two tests of the module have one of these names.
var computing = map[string][]string{
	"./host/engine/js":         {"TestErrorsHoldNothingOfGo", "TestLoadCost"},
	"./host/engine/wasm":       {"TestWebAssemblyEngine"},
	"./host/memory":            {"TestAnAttemptHoldsTexts"},
	"./host/server/httpapi":    {"TestBodiesInLittleMemory", "TestGeneratedRequests", "TestZipBomb"},
	"./host/storage/bolt":      {"TestRemovalHoldsNoContents"},
	"./internal/cli":           {"TestPythonInstall"},
	"./internal/wasm/snapshot": {"TestGoRandom"},
}

// pattern returns the expression for -run and -skip that matches the tests.
func pattern(tests map[string][]string) string {
	names := slices.Sorted(func(yield func(string) bool) {
		for _, of := range tests {
			for _, name := range of {
				if !yield(name) {
					return
				}
			}
		}
	})
	return "^(" + strings.Join(names, "|") + ")$"
}

// packagesOf returns the packages of the tests, sorted.
func packagesOf(tests map[string][]string) []string { return slices.Sorted(maps.Keys(tests)) }
