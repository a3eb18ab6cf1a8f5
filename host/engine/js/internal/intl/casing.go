package intl

import (
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Upper returns a text in upper case for a language with special rules. ok is false for all other
// languages. For Greek and Lithuanian the rules of golang.org/x/text differ from ICU's.
func Upper(tags []Tag, text string) (changed string, ok bool, err error) {
	switch first(tags) {
	case "tr", "az":
		return cases.Upper(language.Turkish).String(text), true, nil
	case "lt", "el":
		return "", false, unsupported("toLocaleUpperCase in "+first(tags), "use toUpperCase")
	}
	return "", false, nil
}

// Lower returns a text in lower case for a language with special rules. ok is false for all other
// languages.
func Lower(tags []Tag, text string) (changed string, ok bool, err error) {
	switch first(tags) {
	case "tr", "az":
		return cases.Lower(language.Turkish).String(text), true, nil
	case "lt":
		return "", false, unsupported("toLocaleLowerCase in lt", "use toLowerCase")
	}
	return "", false, nil
}

// first returns the language of the first tag, or "".
func first(tags []Tag) string {
	if len(tags) == 0 {
		return ""
	}
	return tags[0].Language
}
