package search

import (
	"strings"
	"testing"
)

// TestNormalizedSize checks that normalization does not make a large text much larger. NFKC
// replaces the ligature by 18 characters.
func TestNormalizedSize(t *testing.T) {
	text := strings.Repeat("\ufdfa", 10_000)
	if got := normalized(text); len(got) > expansion*len(text) {
		t.Errorf("normalized has %d bytes; want at most %d", len(got), expansion*len(text))
	}
	if got := normalized("ﬁne ①"); got != "fine 1" {
		t.Errorf("normalized = %q; want %q", got, "fine 1")
	}
}
