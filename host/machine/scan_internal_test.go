package machine

import (
	"strings"
	"testing"
)

// TestScannedSlashes checks that the scanner stops searching for regular expressions on a line with
// many slashes, because each search can read the whole line. The next line is searched again.
func TestScannedSlashes(t *testing.T) {
	s := &scanner{src: strings.Repeat(`\/`, 1000) + "\n /a'/ "}
	var last token
	for range 5000 {
		s.space()
		token := s.next()
		if token.kind == endToken {
			break
		}
		if last = token; s.slashes > maxSlashes {
			t.Fatalf("%d searches on one line; want at most %d", s.slashes, maxSlashes)
		}
	}
	if got := s.src[last.start:last.end]; got != "/a'/" || last.kind != valueToken {
		t.Errorf("the last token is %q; want the regular expression of the second line", got)
	}
}
