package abl_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/agent/abl"
)

var positions = regexp.MustCompile(`(?m)^\d+:\d+ |@\d+:\d+$`)

// meaning returns the parsed document of a file as a text. The text contains no positions.
func meaning(source string) string {
	d, _ := abl.ParseFragment("a.abl", []byte(source))
	return positions.ReplaceAllString(dump(d), "")
}

func TestFormat(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"empty", "\n\n", ""},
		{"indentation", "MEMORY:\n    session:\n    - x\n    -   y\n        TYPE:   string   # a type\n\n\n\n    # facts\n    persistent:\n          - user.x\n# end\n\n",
			"MEMORY:\n  session:\n    - x\n    - y\n      TYPE: string  # a type\n\n  # facts\n  persistent:\n    - user.x\n# end\n"},
		{"block", "- RESPOND: |\n      a\n\n        b   \n\n  SET: x = 1\n", "- RESPOND: |\n    a\n\n      b\n\n  SET: x = 1\n"},
		{"list", "PATHS:   [a, # first\n b,\n\n      c]\nX: 1", "PATHS: [a,  # first\n  b,\n\n  c]\nX: 1\n"},
		{"hash", "A: a#b # c\n", "A: a#b  # c\n"},
		{"line ends", "\ufeffA: 1\r\nB: |\r\n  x\r\n", "A: 1\nB: |\n  x\n"},
	} {
		got, err := abl.Format([]byte(tt.source))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: Format = %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
	if got, err := abl.Format([]byte("A:\n\t- x\n")); err == nil || got != nil {
		t.Errorf("Format of a file with tabs = %q, %v; want an error", got, err)
	}
}

// checkFormat checks that formatting twice gives the same file as formatting once. checkFormat also
// checks that the meaning and the comments of the file do not change.
func checkFormat(t *testing.T, source string) {
	t.Helper()
	once, err := abl.Format([]byte(source))
	if err != nil {
		return
	}
	twice, err := abl.Format(once)
	if err != nil || string(twice) != string(once) {
		t.Fatalf("formatting %q\nis not stable: %q\nthen %q, %v", source, once, twice, err)
	}
	_, problems := abl.ParseFragment("a.abl", []byte(source))
	_, after := abl.ParseFragment("a.abl", once)
	if (problems.Err() == nil) != (after.Err() == nil) {
		t.Fatalf("formatting %q\nas %q\nchanges the problems from %v\nto %v", source, once, problems, after)
	}
	if problems.Err() == nil && meaning(source) != meaning(string(once)) {
		t.Fatalf("formatting %q\nas %q\nchanges its meaning from\n%s\nto\n%s", source, once, meaning(source), meaning(string(once)))
	}
	if a, b := strings.Count(source, "#"), strings.Count(string(once), "#"); a != b {
		t.Fatalf("formatting %q\nas %q\nchanges the comments", source, once)
	}
}

func TestFormatKeepsMeaning(t *testing.T) {
	checkFormat(t, completeAgent)
	if strings.Contains(meaning(completeAgent), "%!") {
		t.Error("the dump omits a declaration; want all declarations")
	}
}

func TestFormatSamples(t *testing.T) {
	for _, s := range readSamples(t) {
		checkFormat(t, s.text)
	}
}

func FuzzFormat(f *testing.F) {
	f.Add(completeAgent)
	for _, seed := range []string{"- RESPOND: |\n      a\n\n        b\n  SET: x = 1", "A: [b, # c\n d]", "AGENT: a\nGOAL: [\n]", "A:\n- b\n- c: 'it''s' # x", "a # b\n  c: it's # d", "SET:\n  - a.b[ i - 1 ].c[\"x y\"][2] = 3"} {
		f.Add(seed)
	}
	f.Fuzz(checkFormat)
}
