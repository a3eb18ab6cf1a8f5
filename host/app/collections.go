package app

import (
	"slices"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/host/search"
)

// auto reads the key "collections" of an app file. auto reports whether the app can use collections
// that are not declared.
func (r *storeReader) auto(n *node) bool {
	if n == nil || n.kind == null {
		return false
	}
	const word = "auto"
	if n.kind == text && n.value == word {
		return true
	}
	r.errorf(n.position, problem.BadValue, "write `collections: auto`, or declare a collection in the section `memory`, such as `kb: {kind: collection, access: user}`", "the value of `collections` must be `%s`", word)
	return false
}

// collection reads the keys that only a collection can have. collection also checks the other keys
// of the collection.
func (r *storeReader) collection(m member, s *declare.Store) {
	n := m.value
	if s.Kind != declare.KindCollection {
		for _, key := range collectionKeys {
			if value := n.get(key); value != nil {
				r.errorf(value.position, problem.BadValue, "add kind: collection, or remove "+key, "the key %s applies only to collections", key)
			}
		}
		return
	}
	for _, key := range []string{"strict", "schema"} {
		if value := n.get(key); value != nil && value.kind != null {
			r.errorf(value.position, problem.BadValue, "remove "+key, "the key %s does not apply to collections", key)
		}
	}
	s.Strict, s.Schema = false, nil
	s.Collection = declare.Collection{Embedding: r.embedding(n.get("embedding")), Erase: r.erase(n.get("erase"), s.Access), Language: r.language(n.get("language"))}
}

// embedding reads the name of an embedding model.
func (r *storeReader) embedding(n *node) string {
	name := r.text(n, "embedding")
	if err := declare.CheckCollection(declare.Collection{Embedding: name}, ""); err != nil {
		r.errorf(n.position, problem.BadName, "use the name of an embedding model of models.yaml, or "+declare.Lexical, "%s", err)
		return ""
	}
	return name
}

// erase reads the rule that determines which entries are removed when a user is erased.
func (r *storeReader) erase(n *node, access declare.Scope) declare.EraseRule {
	rules := []string{string(declare.EraseAuthor), string(declare.EraseNever)}
	word := r.text(n, "erase")
	switch {
	case word == "":
	case !slices.Contains(rules, word):
		r.errorf(n.position, problem.BadValue, didYouMean(word, rules), "the value %s is not valid for the key `erase`", problem.Quote(word))
	case access != declare.ScopeApplication:
		r.errorf(n.position, problem.BadValue, "remove erase", "the key `erase` applies only to collections with the access %s; an erasure of a user always removes the entries of other collections", declare.ScopeApplication)
	default:
		return declare.EraseRule(word)
	}
	return ""
}

// language reads the language of the entries.
func (r *storeReader) language(n *node) string {
	word := r.text(n, keyLanguage)
	if word == "" || slices.Contains(search.Languages(), word) {
		return word
	}
	r.errorf(n.position, problem.BadValue, didYouMean(word, search.Languages()), "the language %s is not supported for collections", problem.Quote(word))
	return ""
}
