package js_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
)

// loadIn loads a source. It returns the duration of the load. If the load takes longer than the
// argument "limit", it returns this limit.
func loadIn(t *testing.T, name, code string, limit time.Duration) (time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	begun := time.Now()
	_, err := js.New().Load(ctx, engine.Source{Path: name, Code: []byte(code)})
	return time.Since(begun), err
}

// TestLoadComputesNothing loads sources with expensive constant expressions. Load must not evaluate
// them.
func TestLoadComputesNothing(t *testing.T) {
	for _, code := range []string{
		`return (12345678901234567890n ** 20000000n) % 7n === 3n`,
		`return 1 ? 7n ** (10n ** 8n) : 0`,
		`return -(1n << 30000000000n)`,
		`return 7n ** 3000000n ** 2n`,
		`const a = {[3n ** 100000000n]: 1}; return 1`,
		"return `${9n ** 90000000n}`",
		`switch (1) { case 3n ** 100000000n: return 1 }`,
		`if (3n ** 100000000n) return 1; while (3n ** 100000000n) return 2`,
		`return 1 && 3n ** 100000000n`, `return null ?? 3n ** 100000000n`, `return !(3n ** 100000000n)`,
		`return (` + strings.Repeat("9", 9000) + `n` + strings.Repeat(" ** 9n", 40) + `)`,
		`return 3n` + strings.Repeat(` * 3n ** 1000000n`, 500),
	} {
		took, err := loadIn(t, "tool.js", code, 10*time.Second)
		if err != nil {
			t.Errorf("Load(%.60s) = %v after %s", code, err, took)
		}
	}
	for code, want := range map[string]string{
		`return (3n ** 4n) % 7n === 4n`: `true`, `return 1 + 2 * 3 ** 2`: `19`, `return "a" + "b" + 1 + -2`: `"ab1-2"`,
		`return [1 && 0, 0 || 2, null ?? 3, !1 || "x", -1 << 2, typeof (1 + "1"), void 0 ?? 4]`: `[0,2,3,"x",-4,"string",4]`,
		`return 1 ? "yes" : "no"`: `"yes"`,
	} {
		if got := answer(t, code); got != want {
			t.Errorf("Run(%s) = %s; want %s", code, got, want)
		}
	}
}

// costly returns sources of about n bytes. Each source contains many constructs of one kind. For
// each construct, a compiler that takes quadratic time reads all constructs again.
func costly(n int) map[string]string {
	fill := func(before, unit, after string) string { return before + strings.Repeat(unit, n/len(unit)) + after }
	count := func(before, format, after string) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return before + b.String() + after
	}
	return map[string]string{
		"digits.js": fill("return ", "7", "n"), "hexadecimal.js": fill("return 0x", "7", "n"), "fraction.js": fill("return 0.", "7", ""),
		"sequence.js": fill("return (1", ",1", ")"), "sequences.js": fill("", "(1"+strings.Repeat(",1", 5000)+");", ""),
		"promises.js": count("", "let p%d=memory.get_content('a');", ""), "texts.js": fill("return 'a'", "+'"+strings.Repeat("b", 500)+"'", ""),
		"patterns.js": fill("return [", "/a/,", "]"), "repetitions.js": fill("return /", "a{1000}", "/"), "groups.js": fill("return /", "(a)", "/"),
		"repeated.js": "return /" + strings.Repeat("(", 60) + "a" + strings.Repeat("){2}", 60) + "/",
		"nested.js":   fill("return /", "(", "") + fill("", ")", "/"),
		"labels.js":   count("a:{", "l%d:{break a}", "}"), "variables.js": count("", "let v%d=1;", ""), "functions.js": count("", "function f%d(){}", ""),
		"same.js": fill("", "function f(){}", ""), "closures.js": fill("let x=1;return [", "()=>x,", "]"), "scopes.js": fill("", "{let x=1}", ""),
		"tries.js": fill("", "try{}catch(e){}", ""), "properties.js": count("return {", "a%d:1,", "}"), "parameters.js": count("function f(", "a%d=1,", "b){}"),
		"classes.js": count("", "class C%d{}", ""), "members.js": count("class A{", "#m%d=1;", "}"), "generators.js": count("", "async function* g%d(){yield 1}", ""),
		"template.js": fill("return `", "${1}", "`"), "spread.js": fill("return [", "...x,", "]"), "lines.js": fill("", "\n", "return 1"),
		"enum.ts": count("enum E{", "a%d,", "}"), "inlined.ts": "enum E{a='" + strings.Repeat("x", n/2) + "'}" + strings.Repeat("E.a;", n/8),
		"doubled.ts": "enum E{a0='xxxxxxxxxx'" + func() (members string) {
			for i := 1; i < 40; i++ {
				members += fmt.Sprintf(",a%d=a%d+a%d", i, i-1, i-1)
			}
			return members
		}() + "}",
		"templates.ts": "enum E{a0='xxxxxxxxxx'" + func() (members string) {
			for i := 1; i < 40; i++ {
				members += fmt.Sprintf(",a%d=`${a%d}${a%d}`", i, i-1, i-1)
			}
			return members
		}() + "}",
	}
}

// TestLoadCost checks sources of equal size. Compiling them must take a similar time. The sources
// in this test are smaller than the maximum size of an entry file. If a source takes seconds here,
// it would take minutes at the maximum size.
func TestLoadCost(t *testing.T) {
	for name, code := range costly(60_000) {
		took, err := loadIn(t, name, code, 30*time.Second)
		if f := abi.FaultOf(err); err != nil && f.Code != abi.SourceInvalid {
			t.Errorf("Load(%s) = %v after %s", name, err, took)
		}
	}
}
