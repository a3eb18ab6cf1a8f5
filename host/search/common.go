package search

import (
	"embed"
	"strings"
)

// commonLists contains the words of languages that are too common to search for.
//
//go:embed common/*.txt
var commonLists embed.FS

// commonWords returns the common words of a language. There are none if they are not known.
func commonWords(language string) map[string]bool {
	list, err := commonLists.ReadFile("common/" + language + ".txt")
	if err != nil {
		return nil
	}
	set := map[string]bool{}
	for word := range strings.FieldsSeq(string(list)) {
		set[word] = true
	}
	return set
}
