package search

import (
	"embed"
	"strings"
)

// commonLists contains a list for each language. The words in a list are too common to be useful in
// a search. Each line of a list contains one word.
//
//go:embed common/*.txt
var commonLists embed.FS

// commonWords is a list of common words. A newline precedes and follows each word.
type commonWords string

// commonWordsOf returns the common words of a language, or an empty list if the package has no list
// for the language.
func commonWordsOf(language string) commonWords {
	list, err := commonLists.ReadFile("common/" + language + ".txt")
	if err != nil {
		return ""
	}
	return commonWords("\n" + string(list))
}

// contains reports whether a word is common.
func (c commonWords) contains(word []byte) bool {
	return strings.Contains(string(c), "\n"+string(word)+"\n")
}
