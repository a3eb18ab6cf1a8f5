package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/internal/spell"
)

// synonyms maps wrong keys that authors sometimes write to the correct keys.
var synonyms = map[string]string{
	"scope": "access", "access_type": "access", "ttl": "retention", "lifetime": "retention",
	"stores": "memory", "memory_stores": "memory", "strict_schema": "strict", "title": "name", "label": "name",
	"code": "source", "file": "source", "path": "source", "script": "source", "main": "source",
	"parameters": "inputSchema", "input": "inputSchema", "output": "outputSchema", "function": "entry",
	"memory_mb": "memory", "timeout_ms": "timeout", "text": "template", "prompt": "template", "id": "app",
	"permissions": "grants", "stores_granted": "grants", "environment": "env",
}

// didYouMean returns a hint for the argument "word". The hint contains the most similar known word.
// If no known word is similar, the hint contains all known words.
func didYouMean(word string, known []string) string {
	if best := nearest(word, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	const maxKnown = 20
	if len(known) == 0 || len(known) > maxKnown {
		return ""
	}
	return "use one of: " + strings.Join(known, ", ")
}

func nearest(word string, known []string) string {
	const longest = 64 // a long word is rarely a typing error
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
	return spell.Name(word, known)
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// fold converts different spellings of a key to the same string, such as "inputSchema",
// "input_schema" and "input-schema".
func fold(word string) string { return strings.ToLower(separators.Replace(word)) }
