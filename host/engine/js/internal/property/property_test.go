package property_test

import (
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/toolrun/toolrun/host/engine/js/internal/property"
)

func TestExpand(t *testing.T) {
	for pattern, want := range map[string]string{
		`a`:              `a`,
		`\p{ASCII}`:      `[\u{0}-\u{7f}]`,
		`[x\p{ASCII}]`:   `[x\u{0}-\u{7f}]`,
		`\P{ASCII}`:      `[\u{80}-\u{10ffff}]`,
		`\p{AHex}+`:      `[\u{30}-\u{39}\u{41}-\u{46}\u{61}-\u{66}]+`,
		`\\p{L}`:         `\\p{L}`,
		`[\]\p{RI}]`:     `[\]\u{1f1e6}-\u{1f1ff}]`,
		`[^\P{Any}]`:     `[^]`,
		`a/b`:            `a\/b`,
		`(?<year>x)`:     `(?=)(?<year>x)`,
		`(?<=x)y`:        `(?<=x)y`,
		`[\p{ASCII}-]`:   `[\u{0}-\u{7f}-]`,
		`[-\p{ASCII}]`:   `[-\u{0}-\u{7f}]`,
		`[^-\p{ASCII}]`:  `[^-\u{0}-\u{7f}]`,
		`[a\-\p{ASCII}]`: `[a\-\u{0}-\u{7f}]`,
		`\p{gc=Zl}\p{General_Category=Line_Separator}`: `[\u{2028}][\u{2028}]`,
		`\p{Zl}\p{Line_Separator}`:                     `[\u{2028}][\u{2028}]`,
	} {
		if got, err := property.Expand(pattern); err != nil || got != want {
			t.Errorf("Expand(%s) = %s, %v; want %s", pattern, got, err, want)
		}
	}
	for pattern, want := range map[string]error{
		`\p`: property.ErrName, `\p{`: property.ErrName, `\p{}`: property.ErrName, `\p{Nope}`: property.ErrName, `\pL`: property.ErrName,
		`\p{sc=Nope}`: property.ErrName, `\p{Script}`: property.ErrName, `\p{Greek}`: property.ErrName, `\p{gc=ASCII}`: property.ErrName,
		`\p{lu}`: property.ErrName, `\p{L=L}`: property.ErrName, `\p{gc=L=L}`: property.ErrName, `\p{Block=ASCII}`: property.ErrName, `\p{#}`: property.ErrName,
		`[\p{L}-z]`: property.ErrRange, `[a-\p{L}]`: property.ErrRange, `[\p{L}-\p{N}]`: property.ErrRange,
		strings.Repeat(`\p{L}`, 100): property.ErrSize,
	} {
		if got, err := property.Expand(pattern); !errors.Is(err, want) {
			t.Errorf("Expand(%.30s) = %.30s, %v; want %v", pattern, got, err, want)
		}
	}
}

func TestCheckGroups(t *testing.T) {
	for _, tt := range []struct {
		pattern       string
		loose, strict error // the result without the flag u, and the result with the flag u
	}{
		{`a`, nil, nil}, {`(?<a>x)\k<a>`, nil, nil}, {`\k<a>(?<a>x)`, nil, nil}, {`(?<$_é1>x)`, nil, nil}, {`(?<\u0061\u{62}>x)\k<ab>`, nil, nil},
		{`(?<=x)(?<!y)`, nil, nil}, {`[(?<]`, nil, nil}, {`\(?<a`, nil, nil}, {`\\k`, nil, nil},
		{`\k`, nil, property.ErrReference}, {`\k<a>`, nil, property.ErrReference}, {`(?<a>x)\k`, property.ErrReference, property.ErrReference},
		{`(?<a>x)\k<b>`, property.ErrReference, property.ErrReference}, {`(?<a>x)\k<a`, property.ErrReference, property.ErrReference},
		{`(?<>x)`, property.ErrGroup, property.ErrGroup}, {`(?<1a>x)`, property.ErrGroup, property.ErrGroup}, {`(?<a`, property.ErrGroup, property.ErrGroup},
		{`(?<a b>x)`, property.ErrGroup, property.ErrGroup}, {`(?<\u{110000}>x)`, property.ErrGroup, property.ErrGroup}, {`(?<\x61>x)`, property.ErrGroup, property.ErrGroup},
		{`(?<a>x)(?<a>y)`, property.ErrDuplicate, property.ErrDuplicate}, {`(?<`, property.ErrGroup, property.ErrGroup},
	} {
		if err := property.CheckGroups(tt.pattern, false); !errors.Is(err, tt.loose) {
			t.Errorf("CheckGroups(%s) = %v; want %v", tt.pattern, err, tt.loose)
		}
		if err := property.CheckGroups(tt.pattern, true); !errors.Is(err, tt.strict) {
			t.Errorf("CheckGroups(%s, u) = %v; want %v", tt.pattern, err, tt.strict)
		}
	}
}

// TestAgainstGo compares the categories and scripts with the tables in Go's package unicode.
func TestAgainstGo(t *testing.T) {
	tables := map[string]*unicode.RangeTable{}
	for name, table := range unicode.Categories {
		tables[name] = table
	}
	for name, table := range unicode.Scripts {
		tables["sc="+name] = table
	}
	for name, table := range tables {
		if name == "Cn" || name == "C" || strings.HasPrefix(name, "C") && len(name) == 1 {
			continue // each Unicode version has fewer unassigned characters
		}
		expanded, err := property.Expand(`^\p{` + name + `}$`)
		if err != nil {
			t.Errorf("\\p{%s}: %v", name, err)
			continue
		}
		class := regexp.MustCompile(strings.ReplaceAll(expanded, `\u{`, `\x{`))
		for _, c := range samplesOf(table) {
			if moved := c == 0x295 || c == 0x1171E; !moved && !class.MatchString(string(c)) { // changed in newer versions
				t.Errorf("\\p{%s} lacks %U", name, c)
				break
			}
		}
	}
}

// samplesOf returns the endpoints of the ranges of a table.
func samplesOf(table *unicode.RangeTable) []rune {
	var points []rune
	for _, r := range table.R16 {
		points = append(points, rune(r.Lo), rune(r.Hi))
	}
	for _, r := range table.R32 {
		points = append(points, rune(r.Lo), rune(r.Hi))
	}
	kept := points[:0]
	for _, c := range points {
		if c < 0xD800 || c > 0xDFFF {
			kept = append(kept, c)
		}
	}
	return kept
}

// TestAgainstNode compares the characters of each property with the results of an installed
// Node.js. Node.js must have the same Unicode version as the package.
func TestAgainstNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	version, err := exec.Command(node, "-p", "process.versions.unicode").Output()
	if err != nil || strings.TrimSpace(string(version)) != "17.0" {
		t.Skipf("node has Unicode %s", version)
	}
	var script strings.Builder
	script.WriteString("const cases = [")
	for _, name := range []string{"L", "Lu", "N", "P", "S", "Z", "C", "Cn", "M", "sc=Greek", "sc=Han", "scx=Deva", "scx=Latin", "Emoji", "Extended_Pictographic", "Alphabetic", "ID_Continue", "XID_Start", "CWCF", "Bidi_M", "Any", "Assigned", "Cs", "Default_Ignorable_Code_Point"} {
		for _, kind := range []string{"p", "P"} {
			expanded, err := property.Expand(`\` + kind + `{` + name + `}`)
			if err != nil {
				t.Fatal(name, err)
			}
			script.WriteString("[String.raw`\\" + kind + "{" + name + "}`, String.raw`" + expanded + "`],\n")
		}
	}
	script.WriteString(`];
		const odd = [];
		for (const [name, expanded] of cases) {
			const a = new RegExp("^" + name + "$", "u"), b = new RegExp("^" + expanded + "$", "u");
			for (let c = 0; c <= 0x10ffff; c++) {
				const s = String.fromCodePoint(c);
				if (a.test(s) !== b.test(s)) { odd.push(name + " " + c.toString(16)); break; }
			}
		}
		console.log(odd.join("; "));`)
	command := exec.Command(node, "-")
	command.Stdin = strings.NewReader(script.String())
	out, err := command.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "" {
		t.Errorf("node: %v, differs at %.500s", err, got)
	}
}
