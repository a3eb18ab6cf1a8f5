package memory

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestLimitsPage compares the default limits with docs/reference/limits.md.
func TestLimitsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	l := Limits{}.withDefaults()
	for _, want := range []string{
		fmt.Sprintf("| %d KiB of JSON, %s values, %s members of an object, %d levels | `too_large` |", l.RecordBytes>>10, thousands(l.Values), thousands(l.Keys), l.Depth),
		fmt.Sprintf("| stores of an app | %d |", l.Stores),
		fmt.Sprintf("| %d GiB (`serve --app-bytes`), %s records |", l.AppBytes>>30, thousands(int(l.AppRecords))),
		fmt.Sprintf("| ledger of an app in a tenant | %d GiB;", l.LedgerBytes>>30),
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/reference/limits.md lacks %q", want)
		}
	}
	if l.UserBytes*8 != l.AppBytes || l.UserRecords*8 != l.AppRecords {
		t.Errorf("the limits of a user are %d bytes and %d records; want an eighth of the app's limits, as in the documentation", l.UserBytes, l.UserRecords)
	}
}

// thousands formats a number with commas.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
