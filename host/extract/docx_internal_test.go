package extract

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestInflated reads archives. The content of each archive is larger than the size that the archive
// declares.
func TestInflated(t *testing.T) {
	left := 4
	got, err := io.ReadAll(&inflated{r: strings.NewReader("abcdef"), left: &left})
	if string(got) != "abcd" || !errors.Is(err, errInflates) {
		t.Errorf("ReadAll = %q, %v; want the first four bytes and an error", got, err)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int][2]string{1: {"a", "I"}, 26: {"z", "XXVI"}, 28: {"bb", "XXVIII"}, 1994: {"1994", "MCMXCIV"}, 0: {"0", "0"}, 4000: {"4000", "4000"}} {
		if got := [2]string{letters(n, 'a'), roman(n)}; got != want {
			t.Errorf("%d is %v; want %v", n, got, want)
		}
	}
}
