package intl

import (
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Upper converts a text to upper case with the special rules of a language. The result ok is false
// for a language without special rules. For Greek and Lithuanian, the rules of golang.org/x/text
// differ from the rules of ICU.
func Upper(tags []Tag, text string) (changed string, ok bool, err error) {
	switch first(tags) {
	case "tr", "az":
		return cases.Upper(language.Turkish).String(text), true, nil
	case "lt", "el":
		return "", false, unsupported("toLocaleUpperCase in "+first(tags), "use toUpperCase")
	}
	return "", false, nil
}

// Lower converts a text to lower case with the special rules of a language. The result ok is false
// for a language without special rules.
func Lower(tags []Tag, text string) (changed string, ok bool, err error) {
	switch first(tags) {
	case "tr", "az":
		return cases.Lower(language.Turkish).String(text), true, nil
	case "lt":
		return "", false, unsupported("toLocaleLowerCase in lt", "use toLowerCase")
	}
	return "", false, nil
}

// The function "first" returns the language of the first tag. Without tags, the function returns
// "".
func first(tags []Tag) string {
	if len(tags) == 0 {
		return ""
	}
	return tags[0].Language
}
