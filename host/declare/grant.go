package declare

import (
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// Grant is the permission to use some verbs on a store.
type Grant struct {
	Store string
	Verbs []abi.Verb
}

// Allows reports whether the grant contains the verb.
func (g Grant) Allows(verb abi.Verb) bool {
	for _, v := range g.Verbs {
		if v == verb {
			return true
		}
	}
	return false
}

// ParseVerbs parses the verbs of a grant in the notation of app files and flags: a comma-separated
// list of read, write, delete and readwrite. readwrite means all three verbs.
func ParseVerbs(text string) ([]abi.Verb, error) {
	var verbs []abi.Verb
	for word := range strings.SplitSeq(text, ",") {
		switch v := abi.Verb(strings.TrimSpace(word)); v {
		case abi.Read, abi.Write, abi.Delete:
			verbs = append(verbs, v)
		case "readwrite":
			verbs = append(verbs, abi.Read, abi.Write, abi.Delete)
		default:
			return nil, fmt.Errorf("%q is not a verb; use read, write, delete or readwrite", word)
		}
	}
	return verbs, nil
}
