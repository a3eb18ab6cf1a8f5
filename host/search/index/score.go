package index

import (
	"github.com/toolrun/toolrun/host/search"
)

// scale is the number of steps between the scores 0 and 1. Rounded scores do not depend on the
// order in which a processor adds numbers.
const scale = 10000

// rounded returns a score in steps, from 0 to scale. NaN becomes 0.
func rounded(score float64) int32 {
	switch {
	case !(score > 0):
		return 0
	case score >= 1:
		return scale
	}
	return int32(score*scale + 0.5)
}

// complete is the text score of a text of average length that contains each word of the query once.
// The constant is near 1, because a text that contains all words of the query answers the query
// completely. Texts that are shorter, or that repeat the words, have higher scores.
const complete = 0.9

// textScore converts a weighted mean of saturations to a text score. The function increases
// strictly, so the order of texts does not change.
func textScore(saturation float64) float64 {
	if saturation <= 1 {
		return complete * saturation
	}
	return complete + (1-complete)*(saturation-1)/(search.MaxSaturation-1)
}

// mean returns the unrounded score for a vector score and a weighted mean of saturations.
func (q *Query) mean(vector, saturation float64) float64 {
	if q.Mode == Vector {
		return vector
	}
	text := textScore(saturation)
	if q.Mode == Text {
		return text
	}
	if !(vector > 0) {
		vector = 0
	}
	return q.VectorShare*vector + (1-q.VectorShare)*text
}

// statistics contains the numbers on which the weights of words depend.
type statistics struct {
	// entries is the number of entries. words is the number of words in the texts of these entries.
	entries, words int
	// containing lists, for each word of the query, the number of entries that contain the word.
	containing []int
}

// weights contains the factors of a weighted mean of saturations.
type weights struct {
	// words contains the weight of each word of the query. The sum of the weights is 1.
	words   []float64
	average float64
}

// weights returns the weights of the words of the query.
func (s *statistics) weights() weights {
	w := weights{words: make([]float64, len(s.containing)), average: float64(s.words) / float64(max(1, s.entries))}
	total := 0.0
	for i, n := range s.containing {
		w.words[i] = search.IDF(s.entries, n)
		total += w.words[i]
	}
	for i := range w.words {
		w.words[i] /= total
	}
	return w
}

// maxOccurrences is the maximum number of occurrences of a word that are counted in one text.
const maxOccurrences = 255

// occurrence returns the summand of a word in the weighted mean of an entry. The argument "length"
// is the number of words in the text of the entry.
func (w *weights) occurrence(term, occurrences, length int) float64 {
	return w.words[term] * search.Saturation(min(occurrences, maxOccurrences), length, w.average)
}
