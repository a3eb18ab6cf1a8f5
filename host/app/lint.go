package app

import (
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// poorNames matches names that do not describe the content of a store, such as "data" or "data2".
var poorNames = lazyregexp.New(`(?i)^([a-z]|data|temp|tmp|test|testing|foo|bar|baz|abc|xyz` +
	`|store|my_?store|memory|mem|stuff|things?|misc|new|untitled|example|sample|values?|objects?|info)[_-]?[0-9]*$`)

// lintStore warns about a declaration of a store that is valid but probably a mistake.
func (r *storeReader) lintStore(m member, s declare.Store) {
	if poorNames().MatchString(s.Name) {
		r.warnf(m.position, problem.PoorName, "choose a name such as userPreferences or orderHistory; the name of a store cannot be changed later", "the name %s does not describe the content", problem.Quote(s.Name))
	}
	if s.Retention.Session && s.Access == declare.ScopeApplication {
		r.warnf(m.value.get("retention").position, problem.ShortLived, "use a retention such as `1_week`", "a record that all users share expires with the session of its last writer")
	}
	declared := m.value.get("schema")
	switch none := declared == nil || declared.kind == null; {
	case !s.Strict:
	case none:
		r.warnf(m.value.get("strict").position, problem.NoEffect, "add a schema", "`strict: true` has no effect without a schema")
	case s.Schema != nil && !strings.Contains(string(s.Schema), `"properties":`):
		r.warnf(m.value.get("strict").position, problem.NoEffect, "declare the properties in the schema", "`strict: true` has no effect, because the schema declares no properties")
	}
}

// lintGrants adds a warning for each store that is not granted to any tool or prompt. If the app
// has no tools and no prompts, lintGrants does not warn.
func (l *load) lintGrants(a *App) {
	if len(a.Tools)+len(a.Prompts) == 0 {
		return
	}
	granted := map[string]bool{}
	note := func(grants []declare.Grant) {
		for _, g := range grants {
			for _, s := range a.Stores {
				granted[s.Name] = granted[s.Name] || g.CoversStore(s.Name)
			}
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
			l.warnf(l.grants.declared[s.Name], problem.NotGranted, "grant the store to a tool: grants: {"+s.Name+": readwrite}", "no tool or prompt has a grant on the store %s", problem.Quote(s.Name))
		}
	}
}

// lintReadOnly adds a warning if a tool has the read-only hint but also grants that allow changes.
// Some clients ask the user to confirm changes. These clients rely on the read-only hint.
func (r *toolReader) lintReadOnly(annotations *node, t *Tool) {
	if t.Annotations.ReadOnlyHint == nil || !*t.Annotations.ReadOnlyHint {
		return
	}
	for _, g := range t.Grants {
		if g.Allows(abi.Write) || g.Allows(abi.Delete) {
			r.warnf(annotations.get("readOnlyHint").position, problem.Contradiction, "write readOnlyHint: false, or grants: {"+g.Store+": read}",
				"`readOnlyHint` is true, but the grants allow the tool to change the store %s", problem.Quote(g.Store))
			return
		}
	}
}
