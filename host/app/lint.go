package app

import (
	"regexp"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
)

// poorNames say nothing about what a store holds, however they are numbered.
var poorNames = regexp.MustCompile(`(?i)^([a-z]|data|temp|tmp|test|testing|foo|bar|baz|abc|xyz` +
	`|store|my_?store|memory|mem|stuff|things?|misc|new|untitled|example|sample|values?|objects?|info)[_-]?[0-9]*$`)

// lintStore warns about what works but is seldom meant.
func (r *storeReader) lintStore(m member, s declare.Store) {
	if poorNames.MatchString(s.Name) {
		r.warnf(m.place, PoorName, "name what it holds, such as userPreferences or orderHistory; the name cannot change later", "the name %s says nothing about the content", quote(s.Name))
	}
	if s.Retention.Session && s.Access == declare.ScopeApplication {
		r.warnf(m.value.get("retention").place, ShortLived, "use a time such as 1_week", "memory shared by all users ends with the session of whoever wrote it last")
	}
	declared := m.value.get("schema")
	switch none := declared == nil || declared.kind == null; {
	case !s.Strict:
	case none:
		r.warnf(m.value.get("strict").place, NoEffect, "add a schema", "strict checks nothing without a schema")
	case s.Schema != nil && !strings.Contains(string(s.Schema), `"properties":`):
		r.warnf(m.value.get("strict").place, NoEffect, "declare the properties in the schema", "strict refuses no further properties, for the schema declares none")
	}
}

// lintGrants warns about stores that nothing may use, in apps that have something to use them.
func (l *load) lintGrants(a *App) {
	if len(a.Tools)+len(a.Prompts) == 0 {
		return
	}
	granted := map[string]bool{}
	note := func(grants []declare.Grant) {
		for _, g := range grants {
			granted[g.Store] = true
		}
	}
	for _, t := range a.Tools {
		note(t.Grants)
	}
	for _, p := range a.Prompts {
		note(p.Grants)
	}
	for _, s := range a.Stores {
		if !granted[s.Name] {
			l.warnf(l.grants.declared[s.Name], NotGranted, "grant it to a tool: grants: {"+s.Name+": readwrite}", "no tool or prompt is granted the store %s", quote(s.Name))
		}
	}
}

// lintReadOnly warns about a tool that says that it changes nothing and is granted to change memory: whoever asks people
// before a tool changes something relies on that.
func (r *toolReader) lintReadOnly(annotations *node, t *Tool) {
	if t.Annotations.ReadOnlyHint == nil || !*t.Annotations.ReadOnlyHint {
		return
	}
	for _, g := range t.Grants {
		if g.Allows(abi.Write) || g.Allows(abi.Delete) {
			r.warnf(annotations.get("readOnlyHint").place, Contradiction, "write readOnlyHint: false, or grants: {"+g.Store+": read}",
				"readOnlyHint is true, and the grants allow the tool to change the store %s", quote(g.Store))
			return
		}
	}
}
