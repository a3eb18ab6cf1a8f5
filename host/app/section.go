package app

import (
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

// entries returns the members of a section. The keys of a section are names that the author has
// chosen. If two names differ only in case, this is a mistake. If a name is declared twice, entries
// omits the second declaration. If a tool or a prompt is declared twice, both positions are
// reported, because either of them can be the mistake.
func (r fieldReader) entries(n *node, section, what string, own func(name string)) []member {
	if n == nil || n.kind == null {
		return nil
	}
	if n.kind != object {
		r.errorf(n.position, problem.WrongType, "write name: {...} for each "+what, "%s must be a mapping from names to declarations, not %s", section, n.kind)
		return nil
	}
	var entries []member
	first := map[string]member{}
	for _, m := range n.members {
		before, taken := first[strings.ToLower(m.key)]
		if !taken {
			first[strings.ToLower(m.key)] = m
			entries = append(entries, m)
			continue
		}
		r.sameName(before, m, what, own)
		if before.key != m.key {
			entries = append(entries, m)
		}
	}
	return entries
}

func (r fieldReader) sameName(first, second member, what string, own func(name string)) {
	const hint = "choose a name that differs in more than the case of letters"
	if own != nil {
		own(first.key)
		r.errorf(first.position, problem.DuplicateName, hint, "the %s %s is declared again on line %d", what, problem.Quote(first.key), second.line)
		own(second.key)
	}
	r.errorf(second.position, problem.DuplicateName, hint, "the %s %s is already declared as %s on line %d", what, problem.Quote(second.key), problem.Quote(first.key), first.line)
	if own != nil {
		own("")
	}
}
