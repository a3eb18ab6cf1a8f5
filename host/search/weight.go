package search

import "math"

// The constants of BM25. Short texts rarely repeat a word, and their length means little. The
// length therefore counts less than in long documents, for which b is usually 0.75.
const (
	k1 = 1.2
	b  = 0.3
)

// MaxSaturation is the limit of Saturation for many occurrences.
const MaxSaturation = k1 + 1

// IDF returns the weight of a word from the number of texts that contain the word and the number of
// all texts. The weight is positive. The weight is higher for rarer words.
func IDF(texts, containing int) float64 {
	return math.Log(1 + (float64(texts-containing)+0.5)/(float64(containing)+0.5))
}

// Saturation returns the factor by which the weight of a word is multiplied if the word occurs
// several times in a text. length is the number of words in the text, and average is the average
// length of all texts. The factor is 1 for one occurrence in a text of average length, and less than
// MaxSaturation.
func Saturation(occurrences, length int, average float64) float64 {
	if occurrences == 0 || average <= 0 {
		return 0
	}
	n := float64(occurrences)
	return n * (k1 + 1) / (n + k1*(1-b+b*float64(length)/average))
}
