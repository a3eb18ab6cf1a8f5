package abl

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// matchKinds contains the kinds of texts that MATCH_SCORE can compare.
var matchKinds = []string{"text", "name", "person_name", "email", "address", "phone", "digits"}

const maxMatchChars = 1024

func matchFunctions() []function {
	return []function{
		fn("MATCH_SCORE(spoken, stored, kind?)", func(c *invocation) (any, error) {
			score, _, err := matchScore(c)
			return score, err
		}),
		fn("MATCHES(spoken, stored, kind?)", func(c *invocation) (any, error) {
			score, digital, err := matchScore(c)
			return matchBand(score, digital) == "match", err
		}),
		fn("MATCH_RESULT(spoken, stored, kind?)", func(c *invocation) (any, error) {
			score, digital, err := matchScore(c)
			return matchBand(score, digital), err
		}),
	}
}

// matchBand converts a score to a result of MATCH_RESULT.
func matchBand(score float64, digital bool) string {
	threshold := 70.0
	if digital {
		threshold = 100
	}
	switch {
	case score < 0:
		return "missing"
	case score >= threshold:
		return "match"
	case score >= 10:
		return "retry"
	default:
		return "mismatch"
	}
}

// matchScore returns the similarity of two texts as a score from 0 to 100. The second result
// reports whether the texts were compared digit by digit. If a text is empty or too long to
// compare, the score is -1.
func matchScore(c *invocation) (float64, bool, error) {
	texts, err := c.strs()
	if err != nil {
		return -1, false, err
	}
	kind := "text"
	if len(texts) > 2 && texts[2] != "" {
		kind = strings.ToLower(texts[2])
	}
	if !slices.Contains(matchKinds, kind) {
		c.ev.warnf(c.at, "argument 3 of the function %s is not one of %s", c.name, strings.Join(matchKinds, ", "))
		return -1, false, nil
	}
	digital := kind == "phone" || kind == "digits"
	if chars(texts[0]) > maxMatchChars || chars(texts[1]) > maxMatchChars {
		return -1, digital, nil
	}
	a, b := matchForm(texts[0], kind), matchForm(texts[1], kind)
	if len(a) == 0 || len(b) == 0 {
		return -1, digital, nil
	}
	if err := c.ev.charge(len(a) * len(b) / 32); err != nil {
		return -1, digital, err
	}
	if digital {
		return digitScore(a, b), digital, nil
	}
	longest := float64(max(len(a), len(b)))
	return math.Round(100 * (longest - float64(editDistance(a, b))) / longest), digital, nil
}

// matchForm returns the characters of a text that matchScore compares. The argument "kind"
// determines which characters are removed.
func matchForm(s, kind string) []rune {
	s = strings.ToLower(s)
	switch kind {
	case "phone", "digits":
		return slices.DeleteFunc([]rune(s), func(r rune) bool { return r < '0' || r > '9' })
	case "email":
		s = strings.NewReplacer(" at the rate ", "@", " at ", "@", " dot ", ".").Replace(s)
		return []rune(strings.Join(strings.Fields(s), ""))
	default:
		words := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		return []rune(strings.Join(words, " "))
	}
}

// digitScore compares the digits of two texts. The score is 100 if all digits are equal. The score
// is 50 if one digit is wrong, or if two adjacent digits are swapped. In all other cases, the score
// is 0.
func digitScore(a, b []rune) float64 {
	switch {
	case slices.Equal(a, b):
		return 100
	case editDistance(a, b) == 1 || swapped(a, b):
		return 50
	default:
		return 0
	}
}

// swapped reports whether swapping two adjacent digits of the argument "a" makes it equal to the
// argument "b".
func swapped(a, b []rune) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
		}
	}
	return false
}

// editDistance returns the minimum number of insertions, deletions and replacements of characters
// that change the argument "a" into the argument "b".
func editDistance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range b {
			cost := diagonal
			if r != s {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, cost)
		}
	}
	return row[len(b)]
}
