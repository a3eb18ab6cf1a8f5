package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/bytesize"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// The limits on declared values that are not part of Loader.
const (
	maxIdle    = 366 * 24 * time.Hour // the maximum idle time of sessions and workflows
	minTimeout = time.Millisecond
	minMemory  = 1 << 20
	minOutput  = 1 << 10
	maxOutput  = 1 << 30
	maxCount   = 1_000_000_000_000
)

// fieldReader reads the fields of a declaration and reports invalid fields.
type fieldReader struct{ *reporter }

// The method "keys" checks the keys of an object, and reports unknown and duplicate keys as
// problems. The method "keys" returns false if n is not an object.
func (r fieldReader) keys(n *node, what string, known []string) bool {
	if n.kind != object {
		r.errorf(n.position, problem.WrongType, mappingHint(n, known), "%s must be a mapping, not %s", what, n.kind)
		return false
	}
	r.once(n)
	empty := "" // the previous known key if its value is missing; the next unknown keys can be its members without indentation
	for _, m := range n.members {
		if slices.Contains(known, m.key) {
			if empty = ""; m.value.kind == null {
				empty = m.key
			}
			continue
		}
		hint := didYouMean(m.key, known)
		if empty != "" && nearest(m.key, known) == "" {
			hint = fmt.Sprintf("to make the key a part of %s, indent the key more", empty)
		}
		r.errorf(m.position, problem.UnknownKey, hint, "%s has no key %s", what, problem.Quote(m.key))
	}
	return true
}

// mappingHint returns a hint on how to write a mapping.
func mappingHint(n *node, known []string) string {
	switch {
	case n.kind == null:
		return "add keys on the next lines, indented more: " + strings.Join(known, ", ")
	case n.kind == text && strings.Contains(n.value, ":"):
		return "put a space after the colon"
	}
	return "use one of: " + strings.Join(known, ", ")
}

// The method "named" calls "keys" for the declaration of a store, tool or prompt. If the name of a
// declaration is the name of a key, the line is probably a key of the previous declaration with too
// little indentation.
func (r fieldReader) named(m member, what string, known []string) bool {
	declares := len(m.value.members) == 0 || slices.ContainsFunc(m.value.members, func(in member) bool { return slices.Contains(known, in.key) })
	if !slices.Contains(known, m.key) || m.value.kind == null || m.value.kind == object && declares {
		return r.keys(m.value, what, known)
	}
	r.errorf(m.position, problem.WrongType, "write a name, and indent the key below the name", "a name is required here, but %s is a key of %s", m.key, what)
	return false
}

// lacks reports whether a key is missing in n. If the method "keys" has already reported a
// misspelling of the key, lacks returns false.
func lacks(n *node, key string, known []string) bool {
	for _, m := range n.members {
		if m.key == key || !slices.Contains(known, m.key) && nearest(m.key, known) == key {
			return false
		}
	}
	return true
}

// The method "once" reports duplicate keys.
func (r fieldReader) once(n *node) bool {
	again := n.repeated()
	for _, m := range again {
		r.errorf(m.position, problem.DuplicateKey, "", "the key %s occurs twice", problem.Quote(m.key))
	}
	return len(again) == 0
}

// text returns a string, or "" for nil and other types.
func (r fieldReader) text(n *node, key string) string {
	switch {
	case n == nil:
		return ""
	case n.kind == text:
		return n.value
	}
	hint := ""
	switch n.kind {
	case number, boolean:
		hint = fmt.Sprintf("put the value in quotes: %s: %q", key, n.value)
	case null:
		hint = "write a string, or omit the key"
	}
	r.errorf(n.position, problem.WrongType, hint, "%s must be a string, not %s", key, n.kind)
	return ""
}

// flag returns a boolean, or nil for nil and other types.
func (r fieldReader) flag(n *node, key string) *bool {
	if n == nil {
		return nil
	}
	if n.kind == boolean {
		v := n.value == "true"
		return &v
	}
	hint := ""
	switch strings.ToLower(n.value) {
	case "yes", "on", "1", "true":
		hint = "write true"
	case "no", "off", "0", "false":
		hint = "write false"
	}
	r.errorf(n.position, problem.WrongType, hint, "%s must be true or false, not %s", key, n.kind)
	return nil
}

var durationRule = lazyregexp.New(`^([1-9][0-9]{0,9})(ms|s|m|h|d)$`)

var durationUnits = []struct {
	name string
	unit time.Duration
}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}}

// duration returns a duration within the limits, or 0.
func (r fieldReader) duration(n *node, key string, low, high time.Duration) time.Duration {
	if n.kind == list || n.kind == object {
		r.errorf(n.position, problem.WrongType, "", "%s must be a duration, such as 2s, not %s", key, n.kind)
		return 0
	}
	d, ok := parseDuration(n.value)
	switch {
	case !ok:
		r.errorf(n.position, problem.BadValue, "write one number and one unit, such as 500ms, 2s, 5m, 24h or 7d", "the value %s is not a duration", problem.Quote(n.value))
	case d < low || d > high:
		r.errorf(n.position, problem.OverLimit, "", "the value of %s is %s; want a value between %s and %s", key, formatDuration(d), formatDuration(low), formatDuration(high))
	default:
		return d
	}
	return 0
}

func parseDuration(s string) (time.Duration, bool) {
	m := durationRule().FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	count, err := strconv.ParseInt(m[1], 10, 64)
	for _, u := range durationUnits {
		if u.name == m[2] && err == nil {
			const maxAge = 100 * 365 * 24 * time.Hour // the product cannot overflow
			return time.Duration(min(count, int64(maxAge/u.unit))) * u.unit, true
		}
	}
	return 0, false
}

// formatDuration formats a duration in the notation that parseDuration accepts. The duration must
// be a whole number of milliseconds.
func formatDuration(d time.Duration) string {
	for _, u := range durationUnits {
		if d%u.unit == 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.name
		}
	}
	return d.String()
}

// count returns an integer from 1 to a maximum, or 0 if the value is invalid.
func (r fieldReader) count(n *node, key string, high int64) int64 {
	count, err := strconv.ParseInt(n.value, 10, 64)
	switch {
	case n.kind != number || err != nil:
		r.errorf(n.position, problem.WrongType, "", "%s must be a whole number, such as 1000, not %s", key, n.kind)
	case count < 1 || count > high:
		r.errorf(n.position, problem.OverLimit, "", "the value of %s is %s; want a value between 1 and %d", key, n.value, high)
	default:
		return count
	}
	return 0
}

// size returns a number of bytes within the limits, or 0.
func (r fieldReader) size(n *node, key string, low, high int64) int64 {
	if n.kind == list || n.kind == object {
		r.errorf(n.position, problem.WrongType, "", "%s must be a size, such as 64MiB, not %s", key, n.kind)
		return 0
	}
	size, ok := bytesize.Parse(n.value)
	switch {
	case !ok:
		r.errorf(n.position, problem.BadValue, "write a number and a unit, such as 64MiB", "the value %s is not a size", problem.Quote(n.value))
	case size < low || size > high:
		r.errorf(n.position, problem.OverLimit, "", "the value of %s is %s; want a value between %s and %s", key, n.value, bytesize.Format(low), bytesize.Format(high))
	default:
		return size
	}
	return 0
}
