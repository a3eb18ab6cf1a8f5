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

// These limits apply to declared values. They cannot be changed by the fields of Loader.
const (
	maxIdle    = 366 * 24 * time.Hour // a session or a workflow cannot have a longer idle time
	minTimeout = time.Millisecond
	minMemory  = 1 << 20
	minOutput  = 1 << 10
	maxOutput  = 1 << 30
	maxCount   = 1_000_000_000_000
)

// fieldReader reads the fields of a declaration. fieldReader reports invalid fields.
type fieldReader struct{ *reporter }

// keys checks the keys of an object. Unknown keys and duplicate keys are reported as problems. If
// the node n is not an object, keys returns false.
func (r fieldReader) keys(n *node, what string, known []string) bool {
	if n.kind != object {
		r.errorf(n.position, problem.WrongType, mappingHint(n, known), "%s must be a mapping, not %s", what, n.kind)
		return false
	}
	r.once(n)
	empty := "" // the previous known key, if its value is missing; the next unknown keys can be its members
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

// mappingHint returns a hint that shows how to write a mapping.
func mappingHint(n *node, known []string) string {
	switch {
	case n.kind == null:
		return "add keys on the next lines, indented more: " + strings.Join(known, ", ")
	case n.kind == text && strings.Contains(n.value, ":"):
		return "put a space after the colon"
	}
	return "use one of: " + strings.Join(known, ", ")
}

// named calls the method "keys" for the declaration of a store, tool or prompt. A declaration whose
// name is the name of a key is probably a mistake. Its line is then a key of the previous
// declaration that is not indented enough.
func (r fieldReader) named(m member, what string, known []string) bool {
	declares := len(m.value.members) == 0 || slices.ContainsFunc(m.value.members, func(in member) bool { return slices.Contains(known, in.key) })
	if !slices.Contains(known, m.key) || m.value.kind == null || m.value.kind == object && declares {
		return r.keys(m.value, what, known)
	}
	r.errorf(m.position, problem.WrongType, "write a name, and indent the key below the name", "a name is required here, but %s is a key of %s", m.key, what)
	return false
}

// lacks reports whether the node n does not contain a key. If the method "keys" has already
// reported a misspelling of this key, lacks returns false.
func lacks(n *node, key string, known []string) bool {
	for _, m := range n.members {
		if m.key == key || !slices.Contains(known, m.key) && nearest(m.key, known) == key {
			return false
		}
	}
	return true
}

// The method "once" reports each key that an object contains twice. If there is such a key, the
// method returns false.
func (r fieldReader) once(n *node) bool {
	again := n.repeated()
	for _, m := range again {
		r.errorf(m.position, problem.DuplicateKey, "", "the key %s occurs twice", problem.Quote(m.key))
	}
	return len(again) == 0
}

// text returns a string. If the value is nil or has another type, text returns "".
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

// flag returns a boolean. If the value is nil or has another type, flag returns nil.
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

// duration returns a duration within the limits. If the value is invalid, duration returns 0.
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

// formatDuration formats a duration so that parseDuration can read it. The duration must be a
// multiple of a millisecond.
func formatDuration(d time.Duration) string {
	for _, u := range durationUnits {
		if d%u.unit == 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.name
		}
	}
	return d.String()
}

// count reads an integer that must be at least 1 and at most the argument "high". If the integer is
// invalid, count returns 0.
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

// size returns a number of bytes within the limits. If the number is invalid, size returns 0.
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
