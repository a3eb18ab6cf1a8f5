package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
)

// secretsOf returns secrets whose display form is "[REDACTED]".
func secretsOf(texts ...string) secrets {
	var s secrets
	for _, text := range texts {
		s = append(s, secret{text: text, display: redacted})
	}
	return s.sorted()
}

// A part of a display form can itself be a secret. A secret within a display form is not replaced.
// Otherwise, each replacement would make the text longer.
func TestCleanDoesNotSearchDisplays(t *testing.T) {
	var parts []string
	for size := minSecretChars; size <= len(redacted); size++ {
		for i := range len(redacted) - size + 1 {
			parts = append(parts, redacted[i:i+size])
		}
	}
	s := secretsOf(append(parts, "4111")...)
	if got := s.clean("the card 4111, REDACTED"); got != "the card [REDACTED], [REDACTED]" {
		t.Errorf("clean = %.200q with %d bytes", got, len(got))
	}
}

// Overlapping secrets are replaced completely.
func TestCleanOverlaps(t *testing.T) {
	s := secretsOf("abcdef", "defghi", "xabc", "cdef")
	for text, want := range map[string]string{
		"abcdefghi": redacted, "xabcdef": redacted, "-abcdef-": "-" + redacted + "-", "abcdefabcdef": redacted + redacted, "abc": "abc", "": "",
	} {
		if got := s.clean(text); got != want {
			t.Errorf("clean(%s) = %s; want %s", text, got, want)
		}
	}
}

// After a long value is truncated, the remaining start contains no part of a secret.
func TestStartOfLongValues(t *testing.T) {
	long := strings.Repeat("S", 1000)
	s := secretsOf("4111\"1111", "é123456", long)
	for _, tt := range []struct {
		value any
		size  int
		want  string
	}{
		{"ab 4111\"1111 cd", 6, `"ab [REDACTED]`},
		{"ab 4111\"1111 cd", 16, `"ab [REDACTED] c`},
		{[]any{long, "1"}, 5, `["[REDACTED]`},
		{"a" + strings.Repeat("b", 300), 4, `"abb`},
		{"aé", 3, `"a`},
		{"é123456", 3, `"[REDACTED]`},
	} {
		content, err := json.Marshal(tt.value)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.start(content, tt.size); got != tt.want {
			t.Errorf("start(%.40s, %d) = %s; want %s", content, tt.size, got, tt.want)
		}
	}
}

// Secrets are also replaced in the keys of objects and in the pointers of violations.
func TestCleanKeysAndViolations(t *testing.T) {
	s := secretsOf("41111234")
	if got := string(s.cleanJSON(json.RawMessage(`{"41111234":{"a 41111234":1}}`))); got != `{"[REDACTED]":{"a [REDACTED]":1}}` {
		t.Errorf("cleanJSON = %s", got)
	}
	f := abi.FaultOf(s.cleanFault(&abi.Fault{Code: abi.InputInvalid, Violations: []abi.Violation{{Pointer: "/41111234", Keyword: "type"}}}))
	if f.Violations[0].Pointer != "/[REDACTED]" {
		t.Errorf("the fault = %+v", f)
	}
}
