package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/internal/cli/exitcode"
)

func TestParseMoment(t *testing.T) {
	now := time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                          {},
		"24h":                       now.Add(-24 * time.Hour),
		"1h30m":                     now.Add(-90 * time.Minute),
		"7d":                        now.AddDate(0, 0, -7),
		"2030-01-30T12:00:00Z":      now.AddDate(0, 0, -1),
		"2030-01-30T13:00:00+01:00": now.AddDate(0, 0, -1),
	} {
		if got, err := parseMoment("--since", text, now); err != nil || !got.Equal(want) {
			t.Errorf("parseMoment(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "24", "-24h", "0s", "7 days", "session", "2030-01-30", "2030-01-30 12:00:00", "2030-02-30T12:00:00Z"} {
		_, err := parseMoment("--since", text, now)
		if exitCode(err) != exitcode.Usage || !strings.Contains(err.Error(), "24h") || !strings.Contains(err.Error(), "RFC 3339") {
			t.Errorf("parseMoment(%q) = %v; want a usage error that names a duration and RFC 3339", text, err)
		}
	}
}

// paged is a ledger whose pages are small.
type paged struct {
	entries, page int
}

func (s paged) Entries(_ context.Context, _ host.Caller, q ledger.Query) (found []ledger.Entry, next string, more bool, err error) {
	first := 0
	_, _ = fmt.Sscanf(q.After, "run_%d", &first)
	last := min(first+min(s.page, q.Limit), s.entries)
	for i := first; i < last; i++ {
		found = append(found, ledger.Entry{Run: fmt.Sprintf("run_%d", i+1)})
	}
	return found, fmt.Sprintf("run_%d", last), last < s.entries, nil
}

func TestLedgerGoesOverPages(t *testing.T) {
	tests := []struct {
		name                 string
		entries, page, limit int
		want                 int
		more                 string
	}{
		{"all", 5, 2, 10, 5, ""},
		{"no more than the limit", 5, 2, 3, 3, "--after run_3,"},
		{"the limit exactly", 4, 2, 4, 4, ""},
		{"none", 0, 2, 10, 0, ""},
		{"more than a page of a server", 3000, ledgerPage, 2500, 2500, "--after run_2500,"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			l := ledgerCommand{newBase(Env{Stdout: &stdout, Stderr: &stderr})}
			err := l.list(t.Context(), paged{entries: test.entries, page: test.page}, host.Caller{}, ledger.Query{Limit: test.limit})
			if got := strings.Count(stdout.String(), "\n") - 1; err != nil || got != test.want {
				t.Errorf("listLedger = %v with %d entries; want %d", err, got, test.want)
			}
			if got := stderr.String(); !strings.Contains(got, test.more) || (got == "") != (test.more == "") {
				t.Errorf("listLedger wrote %q to stderr; want it to contain %q", got, test.more)
			}
		})
	}
}
