package document

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestInflated is of archives that say less of a file than they hold.
func TestInflated(t *testing.T) {
	got, err := io.ReadAll(&inflated{r: strings.NewReader("abcdef"), left: 4})
	if string(got) != "abcd" || !errors.Is(err, errInflates) {
		t.Errorf("ReadAll = %q, %v; want the first four bytes and an error", got, err)
	}
}
