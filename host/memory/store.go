package memory

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// Scope says whose memory a store is. Its word in files is access.
type Scope string

// The scopes.
const (
	ScopeSession     Scope = "session"     // one session's
	ScopeUser        Scope = "user"        // one user's, over all sessions
	ScopeApplication Scope = "application" // the app's, shared by all users
)

// Kind fixes how many records a store has and how they are written.
type Kind string

// KindDocument is a store with one JSON document per scope, which is merged into.
const KindDocument Kind = "document"

// SessionMeta is the name of the built-in store that describes the session. Guests may only read it.
const SessionMeta = "sessionMeta"

// Store declares a piece of memory.
type Store struct {
	// Name is the technical name that guests use; see CheckName.
	Name string
	// Title and Description are for people.
	Title       string
	Description string
	Kind        Kind
	Access      Scope
	Retention   Retention
	// Resource shows the store to clients that list resources, such as those of MCP.
	Resource bool
	// Strict refuses writes that do not fit the schema; otherwise they are stored with a warning.
	Strict bool
	// Schema is a JSON Schema as text, or nil for none.
	Schema json.RawMessage
}

var nameRule = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// CheckName reports why name cannot be a store's technical name. Names are unique without regard to case,
// which is for the caller to check.
func CheckName(name string) error {
	if strings.EqualFold(name, SessionMeta) {
		return fmt.Errorf("the name %q is reserved for the built-in store", SessionMeta)
	}
	if !nameRule.MatchString(name) {
		return fmt.Errorf("%q is not a technical name: it takes a letter, then up to 63 letters, digits, _ or -", name)
	}
	return nil
}

// Retention says how long a record lives after its last write. The zero value means until it is deleted.
type Retention struct {
	// For is the time it lives; 0 for no limit in time.
	For time.Duration
	// Session ends it with the session that wrote it last.
	Session bool
}

// The longest retention, which keeps arithmetic on times far from overflow.
const maxRetention = 100 * 365 * 24 * time.Hour

var retentionWords = map[string]Retention{
	"session": {Session: true},
	"1_day":   {For: 24 * time.Hour},
	"1_week":  {For: 7 * 24 * time.Hour},
	"1_month": {For: 30 * 24 * time.Hour},
}

var retentionUnits = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}

var retentionRule = regexp.MustCompile(`^[1-9][0-9]{0,9}[smhd]$`)

// ParseRetention reads a retention as files and options write it: session, 1_day, 1_week, 1_month (with a
// space or an underscore), or a count with a unit: 90d, 24h, 30m, 10s. Months have 30 days.
func ParseRetention(text string) (Retention, error) {
	if r, ok := retentionWords[strings.ReplaceAll(text, " ", "_")]; ok {
		return r, nil
	}
	if !retentionRule.MatchString(text) {
		return Retention{}, fmt.Errorf("%q is not a retention: it takes session, 1_day, 1_week, 1_month, or a count and one unit such as 90d, 24h, 30m, 10s", text)
	}
	n, err := strconv.ParseInt(text[:len(text)-1], 10, 64)
	unit := retentionUnits[text[len(text)-1]]
	if err != nil || n > int64(maxRetention/unit) {
		return Retention{}, fmt.Errorf("the retention %q is longer than 100 years", text)
	}
	return Retention{For: time.Duration(n) * unit}, nil
}

// String returns the retention as ParseRetention reads it; "" for the zero value.
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

// Grant allows a tool some verbs on a store.
type Grant struct {
	Store string
	Verbs []abi.Verb
}

// Allows reports whether the grant holds the verb.
func (g Grant) Allows(verb abi.Verb) bool {
	for _, v := range g.Verbs {
		if v == verb {
			return true
		}
	}
	return false
}

// ParseVerbs reads the verbs of a grant as files and flags write them: read, write, delete, or readwrite,
// which is all three; several are separated by commas.
func ParseVerbs(text string) ([]abi.Verb, error) {
	var verbs []abi.Verb
	for word := range strings.SplitSeq(text, ",") {
		switch v := abi.Verb(strings.TrimSpace(word)); v {
		case abi.Read, abi.Write, abi.Delete:
			verbs = append(verbs, v)
		case "readwrite":
			verbs = append(verbs, abi.Read, abi.Write, abi.Delete)
		default:
			return nil, fmt.Errorf("%q is not a verb: a grant takes read, write, delete or readwrite", word)
		}
	}
	return verbs, nil
}
