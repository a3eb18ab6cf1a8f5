// Package spell suggests the intended name for a misspelled word.
package spell

import "strings"

// Name returns the name that the user most likely meant by a word, or "" if no name is close. A
// name is close if it starts with the word, or if its edit distance to the word is at most a third
// of the length of the word. Case is ignored. If several names are equally close, the first one
// wins.
func Name(word string, names []string) string {
	const shortest, longest = 3, 64 // shorter words are close to any name, and longer words are not typos
	if len(word) < shortest || len(word) > longest {
		return ""
	}
	folded := strings.ToLower(word)
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(name), folded) {
			return name
		}
	}
	best, nearest := "", len(word)/3+1
	for _, name := range names {
		if len(name) > len(word)+nearest || len(word) > len(name)+nearest {
			continue
		}
		if d := distance(folded, strings.ToLower(name)); d < nearest {
			best, nearest = name, d
		}
	}
	return best
}

// distance returns the edit distance of a and b in bytes: insertions, deletions, replacements, and
// swaps of adjacent bytes.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
