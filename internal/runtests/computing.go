package main

import (
	"maps"
	"slices"
	"strings"
)

// computing lists, by package, the tests that run without the race detector. Some of them compute
// for a long time in one goroutine: the detector finds nothing there and takes ten times as long.
// The other tests start hundreds of processes, and the detector slows down each of them. Each name
// is unique in the module.
var computing = map[string][]string{
	"./cmd/toolrun":    {"TestCommandScripts"},
	"./host/app":       {"TestTotalBytes"},
	"./host":           {"TestManyCodes", "TestSeedEffectsInPython", "TestSeedSampleInPython"},
	"./host/engine/js": {"TestErrorsHoldNothingOfGo", "TestMissingAwaitIsBounded", "TestLoadCost", "TestStackLimitOfNatives"},
	"./host/engine/js/internal/intl": {
		"TestCollatorAsNode", "TestDateTimeFormatAsNode", "TestKnownOrder", "TestListFormatAsNode", "TestNumberFormatAsNode",
		"TestPluralRulesAsNode", "TestRelativeTimeFormatAsNode", "TestVectors", "TestZonesAsNode",
	},
	"./host/engine/wasm":       {"TestWebAssemblyEngine"},
	"./host/memory":            {"TestAttemptKeepsEncodedContents"},
	"./host/server/httpapi":    {"TestAuthorization", "TestBodiesInLittleMemory", "TestFilesWithoutText", "TestGeneratedRequests", "TestSeedFileTypes", "TestZipBomb"},
	"./host/storage/bolt":      {"TestRemovalHoldsNoContents"},
	"./internal/cli":           {"TestPythonInstall"},
	"./internal/wasm/snapshot": {"TestGoRandom", "TestGoSeed"},
	"./schema":                 {"TestAgainstLibrary", "TestCompileManyChoices", "TestMistakesAreBounded", "TestSuite", "TestWorkIsBounded"},
}

// pattern returns a regular expression for -run and -skip that matches the tests.
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

// packagesOf returns the sorted packages of the tests.
func packagesOf(tests map[string][]string) []string { return slices.Sorted(maps.Keys(tests)) }
