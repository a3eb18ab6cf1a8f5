package app

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
)

// verbWords are the words of a grant; readwrite is the three verbs together.
var verbWords = []string{"read", "write", "delete", "readwrite"}

// grantReader reads grants.
type grantReader struct {
	fieldReader
	// declared are the declared stores with their places; nil for a tool that is read without an app.
	declared map[string]place
}

// grants reads which stores may be used, and how. It returns nil where nothing is granted.
func (r *grantReader) grants(n *node) []declare.Grant {
	if n == nil || n.kind == null {
		return nil
	}
	if n.kind != object {
		r.errorf(n.place, WrongType, "write grants: {userPrefs: read}", "grants takes a mapping from stores to verbs, not %s", n.kind)
		return nil
	}
	r.once(n)
	var grants []declare.Grant
	for _, m := range n.members {
		if !r.grantable(m.key) {
			known := slices.Sorted(maps.Keys(r.declared))
			r.errorf(m.place, UnknownStore, didYouMean(m.key, append(known, declare.SessionMeta)), "no store %s is declared", quote(m.key))
		}
		g := declare.Grant{Store: m.key, Verbs: r.verbs(m.value)}
		readOnly := m.key == declare.SessionMeta || r.prompt != ""
		if readOnly && (g.Allows(abi.Write) || g.Allows(abi.Delete)) {
			what := declare.SessionMeta
			if r.prompt != "" {
				what = "a prompt's memory"
			}
			r.errorf(m.value.place, BadValue, "write "+m.key+": read", "%s can only be read", what)
		}
		if len(g.Verbs) > 0 {
			grants = append(grants, g)
		}
	}
	return grants
}

// verbs reads a word, words separated by commas, or a list of words, and returns the verbs in their fixed
// order.
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
		r.errorf(n.place, BadValue, "leave the store out to grant nothing", "the list of verbs is empty")
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
		r.errorf(n.place, WrongType, "known here: "+strings.Join(verbWords, ", "), "a verb is a text, not %s", n.kind)
		return nil
	}
	verbs, err := declare.ParseVerbs(n.value)
	if err != nil {
		r.errorf(n.place, BadValue, didYouMean(n.value, verbWords), "%s is not a verb of a grant", quote(n.value))
	}
	return verbs
}

// formatVerbs writes verbs in their fixed order as verbs reads them.
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

// grantable reports whether a store of that name may stand in a grant.
func (r *grantReader) grantable(name string) bool {
	_, ok := r.declared[name]
	return ok || name == declare.SessionMeta || r.declared == nil
}
