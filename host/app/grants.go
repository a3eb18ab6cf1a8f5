package app

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
)

// verbWords contains the words that a grant can contain. The word "readwrite" stands for all three
// verbs.
var verbWords = []string{"read", "write", "delete", "readwrite"}

// grantReader reads grants.
type grantReader struct {
	fieldReader
	// declared contains the positions of the declared stores. If a tool is read without an app,
	// declared is nil.
	declared map[string]position
	// auto is true if the app can use collections that are not declared. In this case, a collection
	// can have any name.
	auto bool
	// facts contains the positions of the declared facts. facts is nil if the app declares no
	// facts.
	facts map[string]position
}

// grants reads the grants of a tool or prompt. If the tool or prompt has no grants, grants returns
// nil.
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

// verbs reads the verbs of a grant. The value is one word, several words separated by commas, or a
// list of words. The order of the returned verbs is fixed.
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

// formatVerbs formats verbs so that the method "verbs" can read them. The order of the formatted
// verbs is fixed.
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

// checkTarget reports a grant if its store or its facts are not declared.
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

// checkFacts reports a grant if its facts are not declared. A pattern is allowed even if no
// declared fact matches it.
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

// matchesStore reports whether any declared store matches a pattern.
func (r *grantReader) matchesStore(g declare.Grant) bool {
	for name := range r.declared {
		if g.CoversStore(name) {
			return true
		}
	}
	return false
}

// grantable reports whether a grant of a tool or prompt can name the store.
func (r *grantReader) grantable(name string) bool {
	_, ok := r.declared[name]
	return ok || name == declare.SessionMeta || r.declared == nil
}
