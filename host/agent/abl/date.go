package abl

import (
	"strings"
	"time"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

var datePattern = lazyregexp.New(`^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)?)?$`)

// mayBeDate reports whether a text can be a date. It checks only the length of the text and the
// first separator.
func mayBeDate(s string) bool {
	return len(s) >= len("2006-01-02") && len(s) <= 40 && s[4] == '-'
}

// parseDate parses a date in the format of ISO 8601. The date is a day, with an optional time and
// an optional zone. The default zone is UTC.
func parseDate(s string) (time.Time, bool) {
	if !mayBeDate(s) || !datePattern().MatchString(s) {
		return time.Time{}, false
	}
	if len(s) == len("2006-01-02") {
		t, err := time.Parse("2006-01-02", s)
		return t, err == nil
	}
	layout := "2006-01-02T15:04"
	clock := s[len(layout):]
	if strings.HasPrefix(clock, ":") {
		layout += ":05"
		clock = clock[len(":05"):]
	}
	zone := strings.TrimLeft(clock, ".0123456789")
	switch {
	case zone == "":
	case strings.Contains(zone, ":"), zone == "Z":
		layout += "Z07:00"
	default:
		layout += "Z0700"
	}
	t, err := time.Parse(layout, s[:10]+"T"+s[11:])
	return t, err == nil
}

// formatTime formats an instant in the same way as the function NOW: UTC with milliseconds.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
