package intl

import (
	"math"
	"slices"
	"strings"
)

// Options reads the options that a guest passed. If an implementation cannot convert a value, it
// panics.
type Options interface {
	// Text returns an option as a string. The result ok is false if the option is undefined.
	Text(name string) (value string, ok bool)
	// Bool returns an option as a boolean.
	Bool(name string) (value, ok bool)
	// Number returns an option as a number.
	Number(name string) (value float64, ok bool)
	// BoolOrText returns an option that can be a boolean or a string. For a boolean, the result
	// text is "true" or "false", and isBool is true.
	BoolOrText(name string) (text string, isBool, ok bool)
}

// choice reads an option. The option's value must be one of the arguments "words".
func choice(o Options, kind, name, otherwise string, words ...string) (string, error) {
	value, ok := o.Text(name)
	if !ok {
		return otherwise, nil
	}
	if !slices.Contains(words, value) {
		return "", rangeErrorf("Value %s out of range for Intl.%s options property %s", quoted(value), kind, name)
	}
	return value, nil
}

// matcher checks the value of the option localeMatcher. The option has no effect.
func matcher(o Options, kind string) error {
	_, err := choice(o, kind, "localeMatcher", "best fit", "lookup", "best fit")
	return err
}

// whole reads an integer option and checks its range. The result "set" is false if the option is
// undefined.
func whole(o Options, name string, low, high, otherwise int) (value int, set bool, err error) {
	number, ok := o.Number(name)
	if !ok {
		return otherwise, false, nil
	}
	value, err = bounded(number, name, low, high)
	return value, true, err
}

func bounded(number float64, name string, low, high int) (int, error) {
	if math.IsNaN(number) || number < float64(low) || number > float64(high) {
		return 0, rangeErrorf("%s value is out of range.", name)
	}
	return int(math.Floor(number)), nil
}

// systemOption reads the option numberingSystem.
func systemOption(o Options) (string, error) {
	value, ok := o.Text("numberingSystem")
	if !ok {
		return "", nil
	}
	if !isKeywordType(value) {
		return "", rangeErrorf("Invalid numberingSystem : %s", quoted(value))
	}
	return strings.ToLower(value), nil
}

// isKeywordType reports whether a text can be the value of a keyword in a language tag.
func isKeywordType(text string) bool {
	for _, part := range strings.Split(text, "-") {
		if len(part) < 3 || len(part) > 8 || !isAlnum(part) {
			return false
		}
	}
	return true
}

// Part is one part of a formatted value. If the value is a relative time, Unit is the unit of a
// number. Otherwise, Unit is empty.
type Part struct{ Type, Value, Unit string }

// Join returns the concatenated text of parts.
func Join(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Value)
	}
	return b.String()
}
