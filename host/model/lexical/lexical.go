// Package lexical converts texts to vectors without a model. Two texts have similar vectors if they
// share words, or if their words have a similar spelling.
//
// A vector does not represent the meaning of a text: For example, the vector of "car" is not
// similar to the vector of "automobile". The package needs no network and no files, and it never
// fails. The package returns the same vector on every machine.
package lexical

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/toolrun/toolrun/host/search"
)

const (
	// Name is the name that declarations use for this embedder.
	Name = "lexical"
	// ID identifies the vector space of this embedder. If the vectors change, the ID must change.
	ID = "lexical-1"
	// Dim is the number of dimensions.
	Dim = 512
	// VectorShare is the weight of the cosine in a score that combines the cosine and BM25. Unlike
	// the cosine, BM25 takes into account how rare a word is. Measurements determined the value of
	// VectorShare; see TestQuality in package index.
	VectorShare = 0.25
)

// These constants limit the work for one text. If a text exceeds a limit, the rest of the text has
// no effect on the vector.
const (
	MaxBytes = 256 << 10
	MaxWords = 1 << 14
)

// Vectors returns a vector of unit length for each text. Invalid UTF-8 counts as white space.
func Vectors(texts []string) [][]float32 {
	language, err := search.FindLanguage(search.DefaultLanguage)
	if err != nil {
		panic(err) // the default language exists
	}
	v := vectorizer{tokens: language.Tokenizer()}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = v.vector(text)
	}
	return vectors
}

// vectorizer converts texts to vectors. vectorizer is not safe for concurrent use.
type vectorizer struct {
	tokens *search.Tokenizer
	counts map[search.Token]int
	sums   [Dim]int64
}

// vector returns the vector of a text.
func (v *vectorizer) vector(text string) []float32 {
	text = truncate(text)
	v.sums = [Dim]int64{}
	v.count(text)
	for token, n := range v.counts {
		v.addWord(token, n)
	}
	if len(v.counts) == 0 {
		v.addSymbols(text)
	}
	return v.normalized()
}

// truncate returns the beginning of a text.
func truncate(text string) string {
	if len(text) <= MaxBytes {
		return text
	}
	end := MaxBytes
	for end > MaxBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// count counts the words of a text. Common words are ignored unless the text has no other words.
func (v *vectorizer) count(text string) {
	all, rare := map[search.Token]int{}, map[search.Token]int{}
	read := 0
	for token := range v.tokens.Tokens(text) {
		if read++; read > MaxWords {
			break
		}
		all[token]++
		if !token.Common {
			rare[token]++
		}
	}
	if v.counts = rare; len(rare) == 0 {
		v.counts = all
	}
}

// These constants are the weights of the features of a word. All sums are sums of integers.
// Therefore they do not depend on the order of the words or on the processor. The sums of the
// largest text fit into 30 bits, so their squares do not overflow.
const (
	stemWeight = 64
	// gramWeight is the weight of the n-grams of a word. gramWeight is the length of the vector
	// that all n-grams of the word form together.
	gramWeight = 45
	// Each n-gram has from minGram to maxGram characters.
	minGram, maxGram = 3, 5
)

// addWord adds the features of a word. The features are its stem and its n-grams. The argument n is
// the number of occurrences.
func (v *vectorizer) addWord(token search.Token, n int) {
	factor := saturation(n)
	v.add("w", token.Stem, stemWeight*factor)
	v.addGrams(token.Word, factor)
}

// addGrams adds the n-grams of a word. A marker character before the word and after the word shows
// where the word begins and ends.
func (v *vectorizer) addGrams(word string, factor int64) {
	runes := []rune("^" + word + "$")
	count := 0
	for size := minGram; size <= maxGram; size++ {
		count += max(0, len(runes)-size+1)
	}
	weight := int64(math.Round(gramWeight / math.Sqrt(float64(max(count, 1)))))
	for size := minGram; size <= maxGram; size++ {
		for i := 0; i+size <= len(runes); i++ {
			v.add("g", string(runes[i:i+size]), weight*factor)
		}
	}
}

// addSymbols adds the features of a text without words. An example is an emoji.
func (v *vectorizer) addSymbols(text string) {
	for _, field := range strings.Fields(text) {
		v.add("s", field, 1)
	}
	if v.sums == [Dim]int64{} {
		v.add("e", "", 1)
	}
}

// saturation returns the factor of a word that occurs n times. As in BM25, each occurrence adds
// less than the previous occurrence. The factor is between 16 and 35.
func saturation(n int) int64 { return 16 * 22 * int64(n) / (10*int64(n) + 12) }

// positions is the number of dimensions for each feature. Each feature has two dimensions.
// Therefore two features can be distinguished even if they share one dimension.
const positions = 2

// add adds a feature to some dimensions. The hash of the feature determines these dimensions and
// the signs.
func (v *vectorizer) add(class, feature string, weight int64) {
	h := hash(class, feature)
	for range positions {
		if h&Dim == 0 { // the next bit after the bits for the dimension
			v.sums[h%Dim] += weight
		} else {
			v.sums[h%Dim] -= weight
		}
		h >>= 32
	}
}

// hash returns the FNV-1a hash of a feature. hash mixes the hash so that every bit of the result
// depends on every byte of the feature.
func hash(class, feature string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, part := range [...]string{class, feature} {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * prime
		}
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// normalized scales the sums to a vector of unit length.
func (v *vectorizer) normalized() []float32 {
	squares := int64(0)
	for _, sum := range v.sums {
		squares += sum * sum
	}
	if squares == 0 { // all features cancel each other out
		v.add("e", "", 1)
		return v.normalized()
	}
	length := math.Sqrt(float64(squares))
	vector := make([]float32, Dim)
	for i, sum := range v.sums {
		vector[i] = float32(float64(sum) / length)
	}
	return vector
}
