// Package spell finds the name that a misspelt word was probably meant to be.
package spell

import "strings"

// Name returns the one of names that word was probably meant to be, or "" where none is near: a name that
// word is the beginning of, or that differs from it, without regard to case, in at most a third of word's
// letters. Of several that are equally near it returns the first.
func Name(word string, names []string) string {
	const shortest, longest = 3, 64 // shorter words are near to anything; longer ones are no slips, and cost time
	if len(word) < shortest || len(word) > longest {
		return ""
	}
	folded := strings.ToLower(word)
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(name), folded) {
			return name
		}
	}
	best, least := "", len(word)/3+1
	for _, name := range names {
		if len(name) > len(word)+least || len(word) > len(name)+least {
			continue
		}
		if d := distance(folded, strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts the bytes to insert, delete, replace or swap with their neighbour to get from a to b.
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
