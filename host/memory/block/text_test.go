package block_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolrun/toolrun/host/memory/block"
)

func TestLines(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []block.Line
	}{
		{"empty", "", nil},
		{"the seed's entries", "- Prefers concise account summaries\n- Works in America/New_York", []block.Line{{1, "Prefers concise account summaries"}, {2, "Works in America/New_York"}}},
		{"blank lines count as lines", "\n- a\n\n \t\n- b\n", []block.Line{{2, "a"}, {5, "b"}}},
		{"markers", "* a\n+ b\n• c\n1. d\n23) e\n-f\n1.5 g\n--", []block.Line{{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}, {5, "e"}, {6, "-f"}, {7, "1.5 g"}, {8, "--"}}},
		{"a marker without a text is blank", "-\n- \n1.\n*", nil},
		{"all ends of lines", "a\r\nb\rc\vd\fe\u0085f\u2028g\u2029h", []block.Line{{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}, {5, "e"}, {6, "f"}, {7, "g"}, {8, "h"}}},
		{"no list", "plain text", []block.Line{{1, "plain text"}}},
	} {
		if got := slices.Collect(block.Lines(test.text)); !slices.Equal(got, test.want) {
			t.Errorf("%s: Lines(%q) = %v; want %v", test.name, test.text, got, test.want)
		}
	}
}

func TestParseTime(t *testing.T) {
	want := time.Date(2026, 4, 30, 16, 20, 0, 0, time.UTC)
	for _, text := range []string{
		"2026-04-30T16:20:00", "2026-04-30T16:20:00Z", "2026-04-30T16:20:00.000Z", "2026-04-30T16:20:00.000000+00:00", "2026-04-30T18:20:00+02:00",
		"2026-04-30T16:20:00.0",
	} {
		if got, ok := block.ParseTime(text); !ok || !got.Equal(want) {
			t.Errorf("ParseTime(%q) = %v, %t; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "now", "2026-04-30", "16:20:00", "2026-04-31T16:20:00", "2026-04-30T16:20:00 ", "1777566000000", "2026-04-30T16:20:00." + strings.Repeat("0", 100)} {
		if got, ok := block.ParseTime(text); ok {
			t.Errorf("ParseTime(%q) = %v; want none", text, got)
		}
	}
}

func TestParseETag(t *testing.T) {
	for text, want := range map[string]block.Expected{
		`"1777566000000"`: {Revision: 1777566000000}, `"1"`: {Revision: 1}, ` "7" `: {Revision: 7}, `*`: {Exists: true},
	} {
		if got, ok := block.ParseETag(text); !ok || got != want {
			t.Errorf("ParseETag(%s) = %+v, %t; want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{``, `"`, `""`, `7`, `W/"7"`, `"7", "8"`, `"0"`, `"-7"`, `"07"`, `"+7"`, `"7`, `"99999999999999999999"`, `"x"`, `**`} {
		if got, ok := block.ParseETag(text); ok {
			t.Errorf("ParseETag(%s) = %+v; want none", text, got)
		}
	}
}

// FuzzVersions checks the functions that parse versions. Clients send these versions. If a time is
// accepted, the time must remain the same when it is formatted and parsed again. If an entity tag
// is accepted, the tag must equal the ETag of the parsed revision.
func FuzzVersions(f *testing.F) {
	for _, text := range []string{"2026-04-30T16:20:00", "2026-04-30T16:20:00.123456+02:00", `"1777566000000"`, "*", `W/"1"`, "9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if at, ok := block.ParseTime(text); ok {
			again, ok := block.ParseTime(block.FormatTime(at))
			if at.Year() >= 0 && at.Year() <= 9999 && (!ok || !again.Equal(at.Truncate(time.Millisecond))) {
				t.Errorf("ParseTime(%q) = %v, which is %s, and then %v, %t", text, at, block.FormatTime(at), again, ok)
			}
		}
		if e, ok := block.ParseETag(text); ok && !e.Exists && block.ETag(e.Revision) != strings.TrimSpace(text) {
			t.Errorf("ParseETag(%q) = %+v", text, e)
		}
	})
}

// FuzzLines checks that each line is a part of the text. A line must not be blank or contain a line
// break.
func FuzzLines(f *testing.F) {
	for _, text := range []string{"", "- a\n- b", "1. x\r\n\r\n2) y", "\u2028-\u0085", "-\xff\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 2000)] // limits the quadratic time of the check
		last := 0
		for line := range block.Lines(text) {
			if line.Number <= last || line.Text == "" || strings.TrimSpace(line.Text) != line.Text || !strings.Contains(text, line.Text) {
				t.Errorf("Lines(%q) has the line %+v after line %d", text, line, last)
			}
			if utf8.ValidString(text) && strings.ContainsAny(line.Text, "\n\r\u2028\u2029") {
				t.Errorf("Lines(%q) has the line %q", text, line.Text)
			}
			last = line.Number
		}
	})
}
