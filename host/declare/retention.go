package declare

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// Retention is the lifetime of a record after its last write. If the Retention is the zero value, a
// record lives until it is deleted.
type Retention struct {
	// The field For is the lifetime of a record. If For is 0, there is no time limit.
	For time.Duration
	// Session is true if the record ends with the session that last wrote it.
	Session bool
}

// MaxRetention is the maximum of Retention.For. MaxRetention prevents overflows when a retention is
// added to a time.
const MaxRetention = 100 * 365 * 24 * time.Hour

var retentionWords = map[string]Retention{
	"session": {Session: true},
	"1_day":   {For: 24 * time.Hour},
	"1_week":  {For: 7 * 24 * time.Hour},
	"1_month": {For: 30 * 24 * time.Hour},
}

var retentionUnits = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}

var retentionRule = lazyregexp.New(`^[1-9][0-9]{0,9}[smhd]$`)

// ParseRetention parses a retention in the notation of app files and options. Examples are session,
// 1_day, "1 week", 1_month, 90d, 24h, 30m and 10s. A month has 30 days.
func ParseRetention(text string) (Retention, error) {
	if r, ok := retentionWords[strings.ReplaceAll(text, " ", "_")]; ok {
		return r, nil
	}
	if !retentionRule().MatchString(text) {
		return Retention{}, fmt.Errorf("the text %q is not a valid retention; use \"session\", \"1_day\", \"1_week\", \"1_month\", or a number with one unit, such as \"90d\", \"24h\", \"30m\" or \"10s\"", text)
	}
	n, err := strconv.ParseInt(text[:len(text)-1], 10, 64)
	unit := retentionUnits[text[len(text)-1]]
	if err != nil || n > int64(MaxRetention/unit) {
		return Retention{}, fmt.Errorf("the retention %q is longer than 100 years", text)
	}
	return Retention{For: time.Duration(n) * unit}, nil
}

// String formats the retention in the notation of ParseRetention. String returns "" for the zero
// value.
func (r Retention) String() string {
	if r == (Retention{}) {
		return ""
	}
	for word, known := range retentionWords {
		if r == known {
			return word
		}
	}
	for _, unit := range []byte("dhm") {
		if d := retentionUnits[unit]; r.For%d == 0 {
			return strconv.FormatInt(int64(r.For/d), 10) + string(unit)
		}
	}
	return strconv.FormatInt(int64(r.For/time.Second), 10) + "s"
}
