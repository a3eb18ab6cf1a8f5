package host_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/storage/mem"
)

func TestReview(t *testing.T) {
	const file = `
app: shop
memory: {prefs: {access: user}, conv: {access: session, retention: session}}
facts: {user.language: {}, user.age: {}, project.rates: {}}
blocks: true
collections: auto
tools:
  entries: {source: entries.js, description: d, grants: {"conv*": read, kb: [read, write]}}
  blocks: {source: blocks.js, description: d, grants: {core: read, archival: readwrite}}
  recalls: {source: recalls.js, description: d, grants: {core: read, prefs: read}}
  searches: {source: searches.js, description: d, grants: {archival: read}}
  writes: {source: searches.js, description: d, grants: {archival: write}}
  facts: {source: facts.js, description: d, grants: {user.language: read, "project.*": [read, delete]}}
  good: {source: good.js, description: d, grants: {prefs: readwrite}, limits: {memory: 8MiB, output: 1MiB, calls: 1000}}
  calls: {source: calls.js, description: d, grants: {prefs: read, sessionMeta: read}}
  limits: {source: good.js, description: d, grants: {prefs: [read, delete, write]}, limits: {memory: 1GiB, output: 2MiB, calls: 1001}}
  gated: {source: good.js, description: d, grants: {prefs: read}, approval: {before: [get_content]}}
  broken: {source: broken.js, description: d}
`
	files := fstest.MapFS{"app.yaml": {Data: []byte(file)}, "broken.js": {Data: []byte("return {")},
		"facts.js": {Data: []byte("await memory.get_fact('user.language');\nawait memory.set_fact('user.language', 'fr');\nawait memory.get_fact({ path: 'user.age' });\n" +
			"await memory.delete_fact('project.other');\nawait memory.get_fact('user.langauge');\nawait memory.get_fact('language');\nreturn await memory.list_facts('user');")},
		"blocks.js": {Data: []byte("await memory.get_block('core');\nawait memory.update_block('core', '');\nawait memory.delete_block({ name: 'archival' });\n" +
			"await memory.get_block('cor');\nawait memory.get_content('archival');\nreturn await memory.get_block('prefs');")},
		"recalls.js":  {Data: []byte("const all = await memory.recall(String(1));\nreturn [all, await memory.recall('tea')];")},
		"searches.js": {Data: []byte("return await memory.recall({ query: 'tea', limit: 3 });")},
		"entries.js": {Data: []byte("await memory.remember('conversations', 'x');\nawait memory.recall('conversations', 'x');\nawait memory.forget('kb', { all: true });\n" +
			"await memory.recall('other', 'x');\nawait memory.get_content('kb');\nawait memory.recall('other', String(1), { limit: 2 });\nreturn await memory.remember('prefs', 'x');")},
		"good.js": {Data: []byte("return (await memory.get_content('prefs'))?.a ?? null;")},
		"calls.js": {Data: []byte("await memory.set_content('prefs', {});\nawait memory.delete_content('conv');\nawait memory.set_content('sessionMeta', {});\n" +
			"await memory.get_content('sessionmeta');\nreturn await memory.get_content('perfs');")}}
	declared, problems := app.Load(files, "app.yaml")
	if declared == nil {
		t.Fatal(problems)
	}
	h, err := host.Open(t.Context(), host.Options{App: declared, Backend: mem.New(), Engines: []engine.Engine{js.New()}, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	want := map[string][]string{
		"broken": nil,
		"calls": {
			`missing_grant calls.js:1:7 set_content requires the grant write on the store "prefs" (add a grant to the tool: grants: {prefs: [read, write]})`,
			`missing_grant calls.js:2:7 the tool has no grant on the store "conv" (add a grant to the tool: grants: {conv: delete})`,
			`missing_grant calls.js:3:7 sessionMeta is read-only ()`,
			`unknown_store calls.js:4:7 the store "sessionmeta" is not declared (did you mean "sessionMeta"?)`,
			`unknown_store calls.js:5:14 the store "perfs" is not declared (did you mean "prefs"?)`,
		},
		"blocks": {
			`missing_grant blocks.js:2:7 update_block requires the grant write on the block "core" (add a grant to the tool: grants: {core: [read, write]})`,
			`unknown_store blocks.js:4:7 the block "cor" is not declared (did you mean "core"?)`,
			`code_mistake blocks.js:5:7 the block "archival" does not support the operation get_content (use an operation of the store: get_block, update_block, delete_block)`,
			`code_mistake blocks.js:6:14 the store "prefs" of kind document does not support the operation get_block (use an operation of the store: get_content, set_content, delete_content)`,
		},
		"recalls": {
			`missing_grant recalls.js:2:20 the tool searches blocks, but has no read grant on any block (add a grant to the tool: grants: {archival: read})`,
		},
		"entries": {
			`missing_grant entries.js:1:7 remember requires the grant write on the store "conversations" (add a grant to the tool: grants: {conversations: [read, write]})`,
			`missing_grant entries.js:3:7 forget requires the grant delete on the store "kb" (add a grant to the tool: grants: {kb: readwrite})`,
			`missing_grant entries.js:4:7 the tool has no grant on the store "other" (add a grant to the tool: grants: {other: read})`,
			`unknown_store entries.js:5:7 the store "kb" is not declared (the declared stores are: sessionMeta, prefs, conv, core, archival)`,
			`missing_grant entries.js:6:7 the tool has no grant on the store "other" (add a grant to the tool: grants: {other: read})`,
			`code_mistake entries.js:7:14 the store "prefs" of kind document does not support the operation remember (use an operation of the store: get_content, set_content, delete_content)`,
		},
		"writes": {
			`missing_grant searches.js:1:14 the tool searches blocks, but has no read grant on any block (add a grant to the tool: grants: {archival: [read, write]})`,
		},
		"facts": {
			`missing_grant facts.js:2:7 set_fact requires the grant write on the fact "user.language" (add a grant to the tool: grants: {user.language: [read, write]})`,
			`missing_grant facts.js:3:7 the tool has no grant on the fact "user.age" (add a grant to the tool: grants: {user.age: read})`,
			`unknown_store facts.js:5:7 the fact "user.langauge" is not declared (did you mean "user.language"?)`,
			`code_mistake facts.js:6:7 the text "language" is not a path of a fact: use at least two names of letters, digits, '_' or '-', separated by dots, such as user.language ()`,
		},
		"limits": {
			`over_limit memory limits.memory is 1GiB, but the limit of this host is 64MiB`,
			`over_limit output limits.output is 2MiB, but the limit of this host is 1MiB`,
			`over_limit calls limits.calls is 1001, but the limit of this host is 1000`,
		},
	}
	got := h.Review(t.Context())
	for name, review := range got {
		var lines []string
		for _, f := range review.Findings {
			if f.Limit != "" {
				lines = append(lines, fmt.Sprintf("%s %s %s", f.Code, f.Limit, f.Message))
				continue
			}
			lines = append(lines, fmt.Sprintf("%s %s:%d:%d %s (%s)", f.Code, f.File, f.Line, f.Column, f.Message, f.Hint))
		}
		if expected, ok := want[name]; !ok || !slices.Equal(lines, expected) {
			t.Errorf("review of %s:\n%s\nwant\n%s", name, strings.Join(lines, "\n"), strings.Join(expected, "\n"))
		}
		if (review.Err != nil) != (name == "broken") {
			t.Errorf("review of %s: error %v", name, review.Err)
		}
	}
	if len(got) != len(want) {
		t.Errorf("Review has %d tools; want %d", len(got), len(want))
	}
}
