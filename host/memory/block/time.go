package block

import "time"

// timeLayout is the format of times in replies, which is RFC 3339 in UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// FormatTime returns a time in the format of replies.
func FormatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// timeLayouts are the formats that ParseTime accepts. A fraction of a second is optional in both
// formats.
var timeLayouts = [...]string{time.RFC3339, "2006-01-02T15:04:05"}

// maxTimeText is the maximum length of a text that ParseTime parses.
const maxTimeText = 64

// ParseTime parses a time in ISO 8601 format, such as "2026-04-30T16:20:00.123Z". A time without a
// zone is in UTC. For every other text, ParseTime returns false.
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
