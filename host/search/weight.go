package search

import "math"

// The constants of BM25. The searched texts are short: they rarely repeat a word, and their length
// is not significant. Therefore, the constant b is smaller than 0.75, the usual value for long
// documents.
const (
	k1 = 1.2
	b  = 0.3
)

// MaxSaturation is the limit that the result of Saturation approaches as the number of occurrences
// grows.
const MaxSaturation = k1 + 1

// IDF returns the weight of a word. The weight depends on the number of texts that contain the
// word, and on the total number of texts. The weight is positive. Rare words have a higher weight
// than frequent words.
func IDF(texts, containing int) float64 {
	return math.Log(1 + (float64(texts-containing)+0.5)/(float64(containing)+0.5))
}

// Saturation returns the factor by which the weight of a word is multiplied. The factor depends on
// the number of occurrences of the word in a text. The argument "length" is the number of words in
// the text, and "average" is the average length of all texts. The factor is 1 for one occurrence in
// a text of average length. The factor is always less than MaxSaturation.
func Saturation(occurrences, length int, average float64) float64 {
	if occurrences == 0 || average <= 0 {
		return 0
	}
	n := float64(occurrences)
	return n * (k1 + 1) / (n + k1*(1-b+b*float64(length)/average))
}
