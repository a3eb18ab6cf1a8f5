package block

import "time"

// timeLayout is the format of times in replies. The format is RFC 3339 in UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// FormatTime formats a time for replies.
func FormatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// timeLayouts contains the formats that ParseTime accepts. All formats in timeLayouts accept an
// optional fraction of a second.
var timeLayouts = [...]string{time.RFC3339, "2006-01-02T15:04:05"}

// maxTimeText is the maximum length of the argument of ParseTime.
const maxTimeText = 64

// ParseTime parses a time in ISO 8601 format, such as "2026-04-30T16:20:00.123Z". If the text
// contains no time zone, the time is in UTC. If the text has another format, ParseTime returns
// false.
func ParseTime(text string) (time.Time, bool) {
	if len(text) > maxTimeText {
		return time.Time{}, false
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
