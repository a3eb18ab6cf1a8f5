package anchor_test

import (
	"testing"

	"github.com/toolrun/toolrun/host/engine/js/internal/anchor"
)

func TestRewrite(t *testing.T) {
	const start, end = `(?<![^\n\r\u2028\u2029])`, `(?![^\n\r\u2028\u2029])`
	const both = `(?:(?<!\w)(?=\w)|(?<=\w)(?!\w))`
	for _, tt := range []struct{ pattern, flags, want string }{
		{`^a$`, ``, `^a$`},
		{`^a$`, `gm`, start + `a` + end},
		{`^$|[$^]\^\$`, `m`, start + end + `|[$^]\^\$`},
		{`[\]^$]^`, `m`, `[\]^$]` + start},
		{`[^]$[]^`, `m`, `[^]` + end + `[]` + start},
		{`(?<$n>a)\k<$n>$`, `m`, `(?<$n>a)\k<$n>` + end},
		{`(?<!$)(?<=^)`, `m`, `(?<!` + end + `)(?<=` + start + `)`},
		{`\bfox\b`, ``, `(?<!\w)fox(?!\w)`},
		{`\b\w+\b`, ``, `(?<!\w)\w+(?!\w)`},
		{`\b\d{2}\b`, ``, both + `\d{2}` + both},
		{`\ba?x?\b`, ``, both + `a?x?` + both},
		{`\ba*`, ``, both + `a*`},
		{`\b(a|b)\b`, ``, both + `(a|b)` + both},
		{`a|\b|b`, ``, `a|` + both + `|b`},
		{`a\b\b`, ``, `a(?!\w)` + both},
		{`.+\b`, ``, `.+` + both},
		{`\w+?\b`, ``, `\w+?` + both},
		{`\x41\b`, ``, `\x41` + both},
		{`[\b]\\b`, ``, `[\b]\\b`},
		{`a\Bb`, ``, `a(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))b`},
		{`a/[/]\/\b`, ``, `a\/[\/]\/` + both},
		{`\`, `m`, `\`},
		{`(?<$`, `m`, `(?<` + end},
		{`(?`, `m`, `(?`},
		{`[^`, `m`, `[^`},
	} {
		got := anchor.Rewrite(tt.pattern, tt.flags)
		if got != tt.want {
			t.Errorf("Rewrite(%s, %s) = %s; want %s", tt.pattern, tt.flags, got, tt.want)
		}
		if got != tt.pattern && !anchor.Used(tt.pattern, tt.flags) {
			t.Errorf("Used(%s, %s) = false, but Rewrite changes the pattern", tt.pattern, tt.flags)
		}
	}
}
