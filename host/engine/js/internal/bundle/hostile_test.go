package bundle_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine/js/internal/bundle"
)

// hostile returns sources that would overflow the stack of a parser if the package had no limits. A
// stack overflow ends the process, because Go code cannot recover from it.
func hostile() map[string]string {
	fill := func(before, unit, after string) string {
		return before + strings.Repeat(unit, 600_000/len(unit)) + after
	}
	return map[string]string{
		"parentheses": fill("", "(", ""), "arrays": fill("x=", "[", ""), "braces": fill("", "{", ""), "objects": fill("x=", "{a:", ""),
		"templates": fill("x=", "`${", ""), "functions": fill("x=", "function(){", ""), "arrow bodies": fill("x=", "()=>{", ""),
		"arrows": fill("x=", "a=>", "1"), "async arrows": fill("x=", "async a=>", "1"), "not": fill("x=", "!", "1"), "not on lines": fill("x=", "!\n", "1"),
		"typeof": fill("x=", "typeof\n", "a"), "new": fill("x=", "new ", "a"), "await": fill("x=", "await\n", "1"), "powers": fill("x=1", "**1", ""),
		"assignments": fill("x", "=x", ""), "members": fill("x=a", ".b", ""), "optional": fill("x=a", "?.b", ""), "indexes": fill("x=a", "[0]", ""),
		"calls": fill("x=a", "()", ""), "tags": fill("x=a", "``", ""), "conditions": fill("x=", "a?b:", "c"), "if": fill("", "if(a)", "b"),
		"else if": fill("", "if(a)b,c;else ", "d"), "while": fill("", "while(a)", ";"), "do": fill("", "do\n", ";"), "classes": fill("x=", "class extends ", "a"),
		"after a division": fill(`x={}/"/";`, "!", `1;"/"`), "after a regular expression": fill(`{}/"/;`, "!", `1;"`), "sequence": fill("x=(a", ",a", ")"),
		"in": fill("x=a", "\nin\na", ""), "in a comment of HTML": "a<!--`\n" + fill("", "!", "1") + "`",
	}
}

// TestHostileSourcesEndInFaults builds the hostile sources in a child process, because a failure
// would end this process.
func TestHostileSourcesEndInFaults(t *testing.T) {
	if os.Getenv("BUNDLE_TEST_HOSTILE") != "" {
		for name, code := range hostile() {
			for _, path := range []string{"tool.js", "tool.ts"} {
				f := refused(t, source(path, code, nil))
				if f.File != path || f.Line == 0 {
					t.Errorf("%s: no position: %v", name, f)
				}
			}
			f := refused(t, source("tool.js", `import "./x.js"`, map[string]string{"x.js": code}))
			if f.File != "x.js" {
				t.Errorf("%s, imported: %s: %v", name, f.File, f)
			}
		}
		return
	}
	t.Parallel()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostileSourcesEndInFaults$")
	child.Env = append(os.Environ(), "BUNDLE_TEST_HOSTILE=1")
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("the process that built hostile sources: %v\n%.2000s", err, out)
	}
}

func TestBuildEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bundle.Build(ctx, source("tool.js", "return 1", nil)); !errors.Is(err, abi.Cancelled) {
		t.Errorf("Build after cancel = %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 1)
	defer cancel()
	if _, err := bundle.Build(ctx, source("tool.js", "return 1", nil)); !errors.Is(err, abi.Timeout) {
		t.Errorf("Build after the deadline = %v", err)
	}
}
