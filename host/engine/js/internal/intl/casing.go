package intl

import (
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Upper changes a text to upper case in a language that has rules of its own; ok is false for all others. Of Greek and
// Lithuanian, golang.org/x/text has other rules than ICU.
func Upper(tags []Tag, text string) (changed string, ok bool, err error) {
	switch first(tags) {
	case "tr", "az":
		return cases.Upper(language.Turkish).String(text), true, nil
	case "lt", "el":
		return "", false, unsupported("toLocaleUpperCase in "+first(tags), "use toUpperCase")
	}
	return "", false, nil
}

// Lower changes a text to lower case in a language that has rules of its own; ok is false for all others.
func Lower(tags []Tag, text string) (changed string, ok bool, err error) {
	switch first(tags) {
	case "tr", "az":
		return cases.Lower(language.Turkish).String(text), true, nil
	case "lt":
		return "", false, unsupported("toLocaleLowerCase in lt", "use toLowerCase")
	}
	return "", false, nil
}

// first is the language of the first of the tags, or "".
func first(tags []Tag) string {
	if len(tags) == 0 {
		return ""
	}
	return tags[0].Language
}
