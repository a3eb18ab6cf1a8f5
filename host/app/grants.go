package app

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
)

// verbWords lists the words that are allowed in a grant. The word "readwrite" means all three
// verbs.
var verbWords = []string{"read", "write", "delete", "readwrite"}

// grantReader reads grants.
type grantReader struct {
	fieldReader
	// The field declared contains the positions of the declared stores. The field declared is nil
	// if a tool is read without an app.
	declared map[string]position
	// The field auto is true if the app allows collections without a declaration. If auto is true,
	// each name can be the name of a collection.
	auto bool
	// The field "facts" contains the positions of the declared facts. The field "facts" is nil if
	// the app declares no facts.
	facts map[string]position
}

// grants reads the grants of a tool or prompt. grants returns nil if the tool or prompt has no
// grants.
func (r *grantReader) grants(n *node) []declare.Grant {
	if n == nil || n.kind == null {
		return nil
	}
	if n.kind != object {
		r.errorf(n.position, problem.WrongType, "write `grants: {userPrefs: read}`", "grants must be a mapping from stores to verbs, not %s", n.kind)
		return nil
	}
	r.once(n)
	var grants []declare.Grant
	for _, m := range n.members {
		g := declare.GrantOn(m.key, r.verbs(m.value)...)
		r.checkTarget(m, g)
		readOnly := m.key == declare.SessionMeta || r.prompt != ""
		if readOnly && (g.Allows(abi.Write) || g.Allows(abi.Delete)) {
			what := declare.SessionMeta
			if r.prompt != "" {
				what = "a grant of a prompt"
			}
			r.errorf(m.value.position, problem.BadValue, "write "+m.key+": read", "%s is read-only", what)
		}
		if len(g.Verbs) > 0 {
			grants = append(grants, g)
		}
	}
	return grants
}

// verbs reads the verbs of a grant. The value is one word, comma-separated words, or a list of
// words. verbs returns the verbs in a fixed order.
func (r *grantReader) verbs(n *node) []abi.Verb {
	words := n.items
	if n.kind != list {
		words = []*node{n}
	}
	granted := map[abi.Verb]bool{}
	for _, w := range words {
		for _, v := range r.verb(w) {
			granted[v] = true
		}
	}
	if n.kind == list && len(words) == 0 {
		r.errorf(n.position, problem.BadValue, "omit the store to grant nothing", "the list of verbs is empty")
	}
	var verbs []abi.Verb
	for _, v := range []abi.Verb{abi.Read, abi.Write, abi.Delete} {
		if granted[v] {
			verbs = append(verbs, v)
		}
	}
	return verbs
}

func (r *grantReader) verb(n *node) []abi.Verb {
	if n.kind != text {
		r.errorf(n.position, problem.WrongType, "use one of: "+strings.Join(verbWords, ", "), "a verb must be a string, not %s", n.kind)
		return nil
	}
	verbs, err := declare.ParseVerbs(n.value)
	if err != nil {
		r.errorf(n.position, problem.BadValue, didYouMean(n.value, verbWords), "the text %s is not a verb", problem.Quote(n.value))
	}
	return verbs
}

// formatVerbs formats verbs in the notation that the method verbs reads, in a fixed order.
func formatVerbs(verbs []abi.Verb) string {
	if len(verbs) == 3 {
		return "readwrite"
	}
	words := make([]string, len(verbs))
	for i, v := range verbs {
		words[i] = string(v)
	}
	return strings.Join(words, ",")
}

// checkTarget reports a grant on a store or facts that are not declared.
func (r *grantReader) checkTarget(m member, g declare.Grant) {
	switch {
	case r.declared == nil:
	case g.Store == declare.Facts:
		r.checkFacts(m, g)
	case g.CheckPattern() != nil:
		r.errorf(m.position, problem.BadName, "write the beginning of a name followed by `*`, such as `kb-*`", "%s", g.CheckPattern())
	case r.auto && declare.CheckName(strings.TrimSuffix(m.key, "*")) == nil:
	case g.IsPattern() && r.matchesStore(g):
	case !r.grantable(m.key):
		known := slices.Sorted(maps.Keys(r.declared))
		r.errorf(m.position, problem.UnknownStore, didYouMean(m.key, append(known, declare.SessionMeta)), "the store %s is not declared", problem.Quote(m.key))
	}
}

// checkFacts reports a grant on facts that are not declared. A pattern does not need to match a
// declared fact.
func (r *grantReader) checkFacts(m member, g declare.Grant) {
	_, declared := r.facts[g.Item]
	switch err := g.CheckItem(); {
	case err != nil:
		r.errorf(m.position, problem.BadName, "write a path such as user.language, or user.travel.*", "%s", err)
	case r.facts == nil:
		r.errorf(m.position, problem.UnknownStore, "declare facts in the app file, such as `facts: {user.language: {type: string}}`", "the app declares no facts")
	case !declared && g.Item != "" && !strings.HasSuffix(g.Item, "*"):
		r.errorf(m.position, problem.UnknownStore, didYouMean(g.Item, slices.Sorted(maps.Keys(r.facts))), "the fact %s is not declared", problem.Quote(g.Item))
	}
}

// matchesStore reports whether a pattern covers a declared store.
func (r *grantReader) matchesStore(g declare.Grant) bool {
	for name := range r.declared {
		if g.CoversStore(name) {
			return true
		}
	}
	return false
}

// grantable reports whether tools and prompts can have a grant on a store.
func (r *grantReader) grantable(name string) bool {
	_, ok := r.declared[name]
	return ok || name == declare.SessionMeta || r.declared == nil
}
