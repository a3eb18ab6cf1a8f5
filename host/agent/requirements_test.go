package agent_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// requirements lists the numbered statements of the documentation pages on agents. For each
// statement, it contains the tests that check the statement. If a test is in another package, its
// name is preceded by the folder of this package. If a test belongs to the command-line program, it
// is identified by the name of its file.
var requirements = map[string][]string{
	"000-1":  {"TestSeed000/000-1 overview", "host/agent/abl.TestSamples"},
	"000-2":  {"TestResets", "host.TestTurnsAndSessions"},
	"000-3":  {"TestSeed000/000-2 session syntax", "TestSeed000/000-1 overview"},
	"000-4":  {"TestMemoryAndState/001-2 bare names", "host/agent/abl.TestMistakes"},
	"000-5":  {"TestTypes", "TestMemoryAndState/001-1 typed declarations"},
	"000-6":  {"TestSeed000/000-2 session syntax", "host/agent/abl.TestCompleteAgent"},
	"000-7":  {"TestSeed000/000-2 session syntax", "TestMemoryAndState/001-2 bare names"},
	"000-8":  {"TestResets", "TestTurnsEqualTheReference", "host/agent/abl.TestCompleteAgent"},
	"000-9":  {"TestResets", "TestMemoryAndState/001-3 initial values and resets"},
	"000-10": {"TestSeed000/000-3 typed session variables", "TestTurnsEqualTheReference"},
	"000-11": {"TestResets", "TestTurnsEqualTheReference"},
	"000-12": {"TestSeed000/000-1 overview", "TestMemoryAndState/001-6 persistent variables"},
	"000-13": {"host/memory/fact.TestScopes", "host/agent/abl.TestCompleteAgent"},
	"000-14": {"host/agent/abl.TestMistakes"},
	"000-15": {"TestSeed000/000-4 persistent variables", "host/memory/fact.TestScopes"},
	"000-16": {"TestMemoryAndState/001-8 access", "host/agent/abl.TestCompleteAgent"},
	"000-17": {"TestMemoryAndState/001-6 persistent variables", "TestTypes"},
	"000-18": {"host/agent/abl.TestCompleteAgent"},
	"000-19": {"TestMemoryAndState/001-6 persistent variables", "TestTurnsEqualTheReference"},
	"000-20": {"host/agent/abl.TestSamples"},
	"000-21": {"TestSeed000/000-4 persistent variables", "host/memory/fact.TestScopes"},
	"000-22": {"TestSeed000/000-4 persistent variables", "host.TestConcurrentTurns"},
	"000-23": {"TestSeed000/000-5 remember triggers", "TestTriggerRules", "host/agent/abl.TestMistakes"},
	"000-24": {"TestTriggerRules", "host/agent/abl.TestMistakes"},
	"000-25": {"TestSeed000/000-1 overview", "host/memory/fact.TestTTL"},
	"000-26": {"TestTriggerRules", "TestTimesToLive"},
	"000-27": {"TestRecallEvents"},
	"000-28": {"TestRecallEvents", "host/agent/abl.TestMistakes"},
	"000-29": {"TestRecallEvents"},
	"000-30": {"TestSeed000/000-6 recall instructions", "host/agent/abl.TestMistakes"},
	"000-31": {"TestSeed000/000-6 recall instructions", "TestFireInjectsIntoTheSession"},
	"000-32": {"TestSeed000/000-6 recall instructions", "TestDomainRecall"},
	"000-33": {"TestRecallEvents", "TestMemoryAndState/001-12 recalls at the start"},
	"000-34": {"TestSeed000/000-6 recall instructions"},
	"000-35": {"TestSeed000/000-6 recall instructions", "TestTurnsEqualTheReference"},
	"000-36": {"TestDomainRecall", "TestTurnsEqualTheReference"},
	"000-37": {"TestMemoryAndState/001-14 instruction", "TestPreview"},
	"000-38": {"TestSeed000/000-7 session variables in a template"},
	"000-39": {"TestSeed000/000-8 COALESCE of a path"},
	"000-40": {"TestOnStartAndHooks", "TestRespondAndSet"},
	"000-41": {"TestSeed000/000-9 constraints in order", "TestTurnsEqualTheReference"},
	"000-42": {"TestSeed000/000-9 constraints in order", "TestSeed000/000-10 constraint syntax"},
	"000-43": {"TestSeed000/000-11 REQUIRE", "TestSeed000/000-15 BEFORE"},
	"000-44": {"TestSeed000/000-11 REQUIRE", "host/agent/abl.TestConstraintFails"},
	"000-45": {"TestSeed000/000-12 LIMIT", "host/agent/abl.TestConstraintFails"},
	"000-46": {"TestSeed000/000-13 RESTRICT", "host/agent/abl.TestConstraintFails"},
	"000-47": {"TestSeed000/000-14 WHEN", "host/agent/abl.TestConstraintFails"},
	"000-48": {"TestSeed000/000-15 BEFORE", "TestReasoning"},
	"000-49": {"TestUnknownBefore", "host/agent/abl.TestMistakes"},
	"000-50": {"TestImplies", "host/agent/abl.TestTruth"},
	"000-51": {"host/agent/abl.TestMistakes"},
	"000-52": {"host/agent/abl.TestMistakes", "TestSeed000/000-16 ON_FAIL message"},
	"000-53": {"TestSeed000/000-23 WARN", "TestConstraintsStopAtTheFirstError"},
	"000-54": {"TestSeed000/000-16 ON_FAIL message"},
	"000-55": {"TestSeed000/000-17 ON_FAIL HANDOFF"},
	"000-56": {"TestSeed000/000-18 ON_FAIL ESCALATE"},
	"000-57": {"TestSeed000/000-19 ON_FAIL BLOCK"},
	"000-58": {"TestSeed000/000-20 structured ON_FAIL"},
	"000-59": {"TestSeed000/000-21 collect and retry", "TestCollect"},
	"000-60": {"TestSeed000/000-22 GOTO"},
	"000-61": {"TestRetryIsBounded"},
	"000-62": {"TestContinueAfterCollect", "TestSeed000/000-21 collect and retry"},
	"000-63": {"TestConstraintsStopAtTheFirstError"},
	"000-64": {"TestSeed000/000-23 WARN"},
	"000-65": {"TestSeed000/000-14 WHEN", "TestSeed000/000-15 BEFORE"},
	"000-66": {"TestCheck", "TestMemoryAndState/001-5 check"},
	"000-67": {"TestConstraintsStopAtTheFirstError"},
	"000-68": {"TestConstraintsStopAtTheFirstError", "TestSeed000/000-9 constraints in order"},
	"000-69": {"TestSeed000/000-24 interpolation"},
	"000-70": {"host/agent/abl.TestExpressions", "host/agent/abl.TestOracle"},

	"001-1":  {"TestRespondAndSet"},
	"001-2":  {"TestResets", "host.TestTurnsAndSessions"},
	"001-3":  {"TestMemoryAndState/001-1 typed declarations", "host/agent/abl.TestMistakes"},
	"001-4":  {"TestMemoryAndState/001-1 typed declarations", "TestMemoryAndState/001-3 initial values and resets"},
	"001-5":  {"TestResets", "TestTurnsEqualTheReference"},
	"001-6":  {"TestMemoryAndState/001-2 bare names"},
	"001-7":  {"TestMemoryAndState/001-4 message", "host/agent/abl.TestRender"},
	"001-8":  {"TestMemoryAndState/001-5 check", "TestMemoryAndState/001-19 branches of input", "TestSeed000/000-11 REQUIRE"},
	"001-9":  {"TestMemoryAndState/001-4 message", "TestSeed000/000-7 session variables in a template"},
	"001-10": {"TestMemoryAndState/001-1 typed declarations", "TestTypes"},
	"001-11": {"TestSeed000/000-3 typed session variables", "TestTurnsEqualTheReference"},
	"001-12": {"host/memory/fact.TestScopes", "host/memory/fact.TestWorkflow"},
	"001-13": {"TestMemoryAndState/001-7 scopes", "host/memory/fact.TestScopes"},
	"001-14": {"host/memory/fact.TestScopes", "host/agent/abl.TestCompleteAgent"},
	"001-15": {"host/memory/fact.TestScopes", "host/agent/abl.TestMistakes"},
	"001-16": {"TestMemoryAndState/001-8 access"},
	"001-17": {"TestMemoryAndState/001-6 persistent variables", "host/agent/abl.TestCompleteAgent"},
	"001-18": {"TestMemoryAndState/001-7 scopes"},
	"001-19": {"TestMemoryAndState/001-7 scopes"},
	"001-20": {"host/memory/fact.TestWorkflow"},
	"001-21": {"TestMemoryAndState/001-8 access"},
	"001-22": {"TestMemoryAndState/001-8 access", "TestDomainRecall"},
	"001-23": {"TestMemoryAndState/001-8 access", "host/agent/abl.TestCompleteAgent"},
	"001-24": {"TestMemoryAndState/001-9 persistent values in expressions"},
	"001-25": {"TestSeed000/000-8 COALESCE of a path", "TestMemoryAndState/001-6 persistent variables"},
	"001-26": {"TestMemoryAndState/001-6 persistent variables"},
	"001-27": {"TestMemoryAndState/001-10 triggers", "TestMemoryAndState/001-6 persistent variables"},
	"001-28": {"TestRulesWithoutUser", "host/memory/fact.TestScopes"},
	"001-29": {"TestMemoryAndState/001-10 triggers"},
	"001-30": {"TestMemoryAndState/001-10 triggers"},
	"001-31": {"TestMemoryAndState/001-10 triggers", "TestTriggerRules"},
	"001-32": {"TestMemoryAndState/001-11 computed value"},
	"001-33": {"TestMemoryAndState/001-12 recalls at the start"},
	"001-34": {"TestMemoryAndState/001-15 remember and recall", "TestRecallEvents"},
	"001-35": {"TestRecallEvents"},
	"001-36": {"TestLoadMemoryOfPaths", "TestMemoryAndState/001-12 recalls at the start"},
	"001-37": {"TestMemoryAndState/001-13 recall before a search"},
	"001-38": {"TestMemoryAndState/001-12 recalls at the start"},
	"001-39": {"TestMemoryAndState/001-13 recall before a search", "TestRecallEvents"},
	"001-40": {"TestFireInjectsIntoTheSession"},
	"001-41": {"TestMemoryAndState/001-12 recalls at the start", "TestMemoryAndState/001-15 remember and recall"},
	"001-42": {"TestMemoryAndState/001-13 recall before a search", "TestTriggerRules", "host/memory/fact.TestList"},
	"001-43": {"TestMemoryAndState/001-14 instruction"},
	"001-44": {"TestMemoryAndState/001-15 remember and recall"},
	"001-45": {"TestTriggerRules", "host/agent/abl.TestMistakes"},
	"001-46": {"TestMemoryAndState/001-10 triggers", "TestTurnsEqualTheReference", "host/memory/fact.TestTTL"},
	"001-47": {"TestSeed000/000-1 overview", "TestFireInjectsIntoTheSession"},
	"001-48": {"TestMemoryAndState/001-16 sequential SET"},
	"001-49": {"host/agent/abl.TestExpressions"},
	"001-50": {"TestMemoryAndState/001-17 tool result"},
	"001-51": {"TestMemoryAndState/001-18 nested objects"},
	"001-52": {"TestMemoryAndState/001-19 branches of input"},
	"001-53": {"TestMemoryAndState/001-20 clear"},
	"001-54": {"TestMemoryAndState/001-21 sub-intents"},
	"001-55": {"TestMemoryAndState/001-21 sub-intents", "host/agent/abl.TestExpressions"},
	"001-56": {"TestMemoryAndState/001-22 transform", "TestTransform"},
	"001-57": {"TestMemoryAndState/001-22 transform"},
	"001-58": {"TestTransform", "TestMemoryAndState/001-23 filter only", "TestMemoryAndState/001-24 map only"},
	"001-59": {"TestMemoryAndState/001-22 transform", "host/agent/abl.TestRender"},
	"001-60": {"TestUndefinedIsNull"},
	"001-61": {"TestMemoryAndState/001-21 sub-intents", "TestClearedFieldIsAskedAgain"},
	"001-62": {"TestTransform"},
	"001-63": {"TestMemoryAndState/001-17 tool result", "TestGather", "TestCall"},
	"001-64": {"TestResets", "TestTurnsEqualTheReference"},
}

// TestRequirements checks that each requirement names at least one test, and that all named tests
// exist.
func TestRequirements(t *testing.T) {
	all := maps.Clone(requirements)
	maps.Copy(all, blockRequirements)
	maps.Copy(all, collectionRequirements)
	for page, n := range map[string]int{"000": 70, "001": 64, "002": 37, "003": 23} {
		for i := 1; i <= n; i++ {
			if len(all[fmt.Sprintf("%s-%d", page, i)]) == 0 {
				t.Errorf("%s-%d has no test", page, i)
			}
		}
	}
	if len(all) != 70+64+37+23 {
		t.Errorf("there are %d requirements", len(all))
	}
	maps.Copy(all, badInput)
	sources := map[string]string{}
	for id, tests := range all {
		for _, test := range tests {
			if strings.HasSuffix(test, ".txtar") {
				if _, err := os.Stat(filepath.Join("..", "..", test)); err != nil {
					t.Errorf("%s: %v", id, err)
				}
				continue
			}
			dir, name := "host/agent", test
			if i := strings.LastIndex(test, ".Test"); i >= 0 {
				dir, name = test[:i], test[i+1:]
			}
			if sources[dir] == "" {
				sources[dir] = testSources(t, dir)
			}
			function, sub, _ := strings.Cut(name, "/")
			if !strings.Contains(sources[dir], "\nfunc "+function+"(t *testing.T)") {
				t.Errorf("%s: the test %s is not in %s", id, function, dir)
			}
			if sub != "" && !strings.Contains(sources[dir], `, "`+sub+`", `) {
				t.Errorf("%s: the case %q is not in %s", id, sub, function)
			}
		}
	}
}

// testSources returns the text of the tests of a package.
func testSources(t *testing.T, dir string) string {
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "requirements_test.go") {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(content)
	}
	return all.String()
}
