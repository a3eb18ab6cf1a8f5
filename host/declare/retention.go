package declare

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// Retention is the lifetime of a record. The lifetime begins with the last write to the record. If
// the Retention is the zero value, a record exists until it is deleted.
type Retention struct {
	// The field For is the length of the lifetime. If For is 0, the lifetime has no time limit.
	For time.Duration
	// If Session is true, a record is removed when the session that last wrote the record ends.
	Session bool
}

// MaxRetention is the maximum value of Retention.For. A retention is added to a time. MaxRetention
// ensures that the result does not overflow.
const MaxRetention = 100 * 365 * 24 * time.Hour

var retentionWords = map[string]Retention{
	"session": {Session: true},
	"1_day":   {For: 24 * time.Hour},
	"1_week":  {For: 7 * 24 * time.Hour},
	"1_month": {For: 30 * 24 * time.Hour},
}

var retentionUnits = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}

var retentionRule = lazyregexp.New(`^[1-9][0-9]{0,9}[smhd]$`)

// ParseRetention parses a retention as it is written in app files and options. Examples are
// session, 1_day, "1 week", 1_month, 90d, 24h, 30m and 10s. A month has 30 days here.
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

// String formats the retention so that ParseRetention can read it. If the retention is the zero
// value, String returns "".
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
