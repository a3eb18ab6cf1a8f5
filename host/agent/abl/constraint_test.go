package abl_test

import (
	"errors"
	"testing"

	"github.com/toolrun/toolrun/host/agent/abl"
)

func TestConstraintFails(t *testing.T) {
	vars := abl.Variables{"amount": 50.0, "limit": 100.0, "country": "IR", "channel": "chat", "text": "many", "items": []any{1.0}}
	for _, tt := range []struct {
		rule  string
		fails bool
	}{
		{"REQUIRE amount <= limit", false},
		{"REQUIRE amount > limit", true},
		{"REQUIRE amount <= missing", true},
		{"REQUIRE missing", true},
		{"REQUIRE missing <= missing2", true},
		{"REQUIRE missing IS NOT SET", false},
		{"REQUIRE missing != 1", true},
		{"REQUIRE NOT (missing > 1)", true},
		{"LIMIT amount + 60 <= limit", true},
		{"LIMIT missing + amount <= limit", true},
		{"LIMIT text <= limit", true},
		{"LIMIT items <= 3", false},
		{`RESTRICT country IN ["CU", "IR"]`, true},
		{`RESTRICT country IN ["CU"]`, false},
		{`RESTRICT missing IN ["CU"]`, false},
		{"RESTRICT missing", false},
		{"RESTRICT NOT missing", false},
		{"RESTRICT missing IS NOT SET", true},
		{"WARN amount < 60", false},
		{"WARN amount < 40", true},
		{"WARN missing < 40", true},
		{"REQUIRE false BEFORE lunch", false},
		{"REQUIRE false BEFORE calling tool", true},
		{"REQUIRE false\n  WHEN: channel == \"voice\"", false},
		{"REQUIRE false\n  WHEN: channel == \"chat\"", true},
		{"REQUIRE false\n  WHEN: missing == \"voice\"", true},
		{"RESTRICT true\n  WHEN: missing", true},
		{"REQUIRE true\n  WHEN: missing", false},
	} {
		d, problems := abl.ParseFragment("a.abl", []byte("- "+tt.rule+"\n  ON_FAIL: BLOCK\n"))
		if err := problems.Err(); err != nil || len(d.Constraints) != 1 {
			t.Errorf("%s: %v", tt.rule, err)
			continue
		}
		if fails, _, err := d.Constraints[0].Fails(vars, testOptions()); fails != tt.fails || err != nil {
			t.Errorf("%s: Fails = %v, %v; want %v", tt.rule, fails, err, tt.fails)
		}
	}
	d, _ := abl.ParseFragment("a.abl", []byte("- RESTRICT UNIQUE_ID()\n  ON_FAIL: BLOCK\n"))
	if _, _, err := d.Constraints[0].Fails(vars, abl.Options{}); !errors.Is(err, abl.ErrNoRandom) {
		t.Errorf("Fails without a random source: %v", err)
	}
}
