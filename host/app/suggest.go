package app

import (
	"fmt"
	"slices"
	"strings"
)

// synonyms are words that people use for our keys.
var synonyms = map[string]string{
	"scope": "access", "access_type": "access", "ttl": "retention", "lifetime": "retention",
	"stores": "memory", "memory_stores": "memory", "strict_schema": "strict", "title": "name", "label": "name",
	"code": "source", "file": "source", "path": "source", "script": "source", "main": "source",
	"parameters": "inputSchema", "input": "inputSchema", "output": "outputSchema", "function": "entry",
	"memory_mb": "memory", "timeout_ms": "timeout", "text": "template", "prompt": "template", "id": "app",
	"permissions": "grants", "stores_granted": "grants", "environment": "env",
}

// didYouMean returns a hint that names the known word nearest to word or, where none is near, lists them.
func didYouMean(word string, known []string) string {
	if best := nearest(word, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	const most = 20
	if len(known) == 0 || len(known) > most {
		return ""
	}
	return "known here: " + strings.Join(known, ", ")
}

func nearest(word string, known []string) string {
	const longest = 64 // longer words are no slips of the pen, and cost time
	if len(word) > longest {
		return ""
	}
	for _, k := range known {
		if fold(k) == fold(word) {
			return k
		}
	}
	if s := synonyms[strings.ToLower(word)]; slices.Contains(known, s) {
		return s
	}
	const shortest = 3
	for _, k := range known {
		if len(word) >= shortest && strings.HasPrefix(k, word) {
			return k
		}
	}
	best, least := "", len(word)/3+1 // a third of the letters may be wrong
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// fold maps the spellings inputSchema, input_schema and input-schema to one.
func fold(word string) string { return strings.ToLower(separators.Replace(word)) }

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
