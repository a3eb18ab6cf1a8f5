package search

import (
	"embed"
	"strings"
)

// commonLists contains, for each language, the words that are too common for searches. Each line
// contains one word.
//
//go:embed common/*.txt
var commonLists embed.FS

// commonWords is a list of common words. Each word is between two line ends.
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
