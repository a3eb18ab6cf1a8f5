package main

import (
	"maps"
	"slices"
	"strings"
)

// computing lists, by package, the tests that run without the race detector. Most listed tests
// compute for a long time in one goroutine, or in goroutines that run one at a time. In such tests,
// the detector finds nothing and takes ten times as long. Some listed tests start hundreds of
// processes, and the detector slows down each process. The listed tests of plug-ins and of Python
// tools compile WebAssembly, and the Python interpreter would take more than a minute with the
// detector. The target soak of the Makefile runs most of these tests with the detector.
// TestStackOfRun measures stacks, and the detector makes them larger. No unlisted test may have the
// name of a listed test.
var computing = map[string][]string{
	"./cmd/toolrun": {"TestCommandScripts", "TestMCPOverStdio"},
	"./host/app":    {"TestTotalBytes"},
	"./host": {
		"TestApprovalOfPlugin", "TestApprovalOfPython", "TestBlocksInEngines", "TestCollectionsInAllLanguages", "TestErasedCanary", "TestFactsInEngines",
		"TestFilterValuesInPython", "TestManyCodes", "TestPluginsAskModels", "TestPythonToolAsksModel", "TestRecallInEngines", "TestSearchTime",
		"TestSeedEffectsInPython", "TestSeedSampleInPython", "TestStackOfRun", "TestUndefinedAndNullMetadata",
	},
	"./host/agent":     {"TestTriggerOfHugeValue", "TestTurnsEqualTheReference"},
	"./host/engine/js": {"TestErrorsHoldNothingOfGo", "TestMissingAwaitIsBounded", "TestLoadCost", "TestStackLimitOfNatives"},
	"./host/engine/js/internal/intl": {
		"TestCollatorAsNode", "TestDateTimeFormatAsNode", "TestKnownOrder", "TestListFormatAsNode", "TestNumberFormatAsNode",
		"TestPluralRulesAsNode", "TestRelativeTimeFormatAsNode", "TestVectors", "TestZonesAsNode",
	},
	"./host/engine/wasm":       {"TestWebAssemblyEngine"},
	"./host/memory":            {"TestAttemptKeepsEncodedContents", "TestSchedules"},
	"./host/memory/block":      {"TestModel"},
	"./host/memory/collection": {"TestModel"},
	"./host/memory/fact":       {"TestModel"},
	"./host/memory/kindtest":   {"TestEngines", "TestSpaceInEngines", "TestSpaceReview"},
	"./host/search":            {"TestQuality"},
	"./host/search/index":      {"TestModel", "TestQuality"},
	"./host/server/httpapi":    {"TestAuthorization", "TestBodiesInLittleMemory", "TestFilesWithoutText", "TestForeignIDs", "TestGeneratedRequests", "TestSeedFileTypes", "TestZipBomb"},
	"./host/storage/bolt":      {"TestFlippedBits", "TestOverwrittenPages", "TestRemovalHoldsNoContents"},
	"./host/txn":               {"TestSchedules", "TestSchedulesFindBrokenRules"},
	"./internal/cli":           {"TestPythonInstall"},
	"./internal/wasm/snapshot": {"TestCaptureInitializedFails", "TestCaptureInitializedVaries", "TestGoKeepsOtherGenerators", "TestGoRandom", "TestGoSeed"},
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
	return "^(" + strings.Join(slices.Compact(names), "|") + ")$"
}

// packagesOf returns the sorted packages of the tests.
func packagesOf(tests map[string][]string) []string { return slices.Sorted(maps.Keys(tests)) }
