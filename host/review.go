package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/bytesize"
	"github.com/toolrun/toolrun/internal/spell"
)

// Review is the result of a static check of a tool.
type Review struct {
	// Err is the compile error of the tool, or nil.
	Err error
	// Findings lists the likely mistakes in the tool, if the tool compiles.
	Findings []Finding
}

// Finding is a likely mistake in a tool. Examples of findings are code that always fails, code
// without effect, and a limit that exceeds the host's limit.
type Finding struct {
	// Limit is the name, in the app file, of the tool's limit that the finding is about, such as
	// "memory". If the finding is not about a limit, Limit is "".
	Limit string
	// Code is the kind of the mistake. Code has the same values as in a Problem of package app.
	Code problem.Code
	engine.Finding
}

// Review compiles every tool, like Check. Review also checks the code of each tool without running
// the code. The result contains a Review for each tool that has a compile error or findings. The
// keys of the result are the names of the tools.
func (h *Host) Review(ctx context.Context) map[string]Review {
	reviews := map[string]Review{}
	for _, declared := range h.app.Tools {
		review := reviewTool(ctx, h, declared)
		if review.Err != nil || len(review.Findings) > 0 {
			reviews[declared.Name] = review
		}
	}
	return reviews
}

// reviewTool compiles a separate program to review a tool, because the program that runs use is
// compiled without a review.
func reviewTool(ctx context.Context, h *Host, declared app.Tool) Review {
	t := newTool(h.app, declared)
	t.source = func() (engine.Source, error) {
		src, err := h.compiler.source(t)
		src.Review = true
		return src, err
	}
	t.load = h.compiler.loader(t)
	program, err := t.ready(ctx, DefaultTenant, h.limits.LoadTimeout)
	if err != nil {
		return Review{Err: fmt.Errorf("tool %q: %w", declared.Name, err)}
	}
	found := engine.ReviewOf(program)
	review := Review{Findings: clamped(h, t)}
	for _, call := range found.Calls {
		if f, bad := checkCall(h, declared, call); bad {
			review.Findings = append(review.Findings, f)
		}
	}
	for _, f := range found.Findings {
		review.Findings = append(review.Findings, Finding{Code: problem.CodeMistake, Finding: f})
	}
	review.Err = t.close()
	return review
}

// checkCall checks a memory call against the declarations of the app and the grants of the tool.
func checkCall(h *Host, t app.Tool, call engine.MemoryCall) (Finding, bool) {
	op, known := h.table.Lookup(call.Op)
	if !known {
		return Finding{}, false
	}
	finding := findingAt(call.Position)
	switch {
	case call.Op == abi.Recall && call.Store == "":
		return checkRecall(h.app, t, call)
	case call.Store == "":
		return checkFactCall(h.app, t, op, call)
	}
	st, declared := h.app.Store(call.Store)
	if _, entries := abi.Collections().Lookup(call.Op); !declared && h.app.AutoCollections && entries && declare.CheckName(call.Store) == nil {
		declared = true
	}
	if _, onBlocks := abi.Blocks().Lookup(call.Op); !declared && onBlocks && call.Op != abi.Recall {
		return finding(problem.UnknownStore, blockHint(h.app, call.Store), "the block %q is not declared", call.Store)
	}
	if !declared && call.Store != declare.SessionMeta {
		return finding(problem.UnknownStore, storeHint(h.app, call.Store), "the store %q is not declared", call.Store)
	}
	if f, ok := errors.AsType[*abi.Fault](h.memory.CheckOperation(call.Store, call.Op)); ok {
		return finding(problem.CodeMistake, f.Hint, "%s", f.Message)
	}
	what := "store"
	if st.Kind == declare.KindBlock {
		what = "block"
	}
	at := grantOn(t.Grants, call.Store)
	switch {
	case at < 0 && call.Store == declare.SessionMeta && op.Verb != abi.Read:
		return finding(problem.MissingGrant, "", "%s is read-only", call.Store)
	case at < 0:
		return finding(problem.MissingGrant, grantHint(call.Store, op.Verb), "the tool has no grant on the %s %q", what, call.Store)
	case t.Grants[at].Allows(op.Verb):
		return Finding{}, false
	case call.Store == declare.SessionMeta:
		return finding(problem.MissingGrant, "", "%s is read-only", call.Store)
	}
	return finding(problem.MissingGrant, grantHint(call.Store, append(slices.Clone(t.Grants[at].Verbs), op.Verb)...),
		"%s requires the grant %s on the %s %q", call.Op, op.Verb, what, call.Store)
}

// grantOn returns the index of the grant on a store, or -1. If a grant contains the exact name of
// the store, it takes precedence over patterns. A longer pattern takes precedence over a shorter
// pattern.
func grantOn(grants []declare.Grant, store string) int {
	at := slices.IndexFunc(grants, func(g declare.Grant) bool { return g.Store == store })
	for i, g := range grants {
		if g.Store != store && g.CoversStore(store) && (at < 0 || grants[at].IsPattern() && len(g.Store) > len(grants[at].Store)) {
			at = i
		}
	}
	return at
}

// findingAt returns a function that creates findings. All these findings have the same position in
// the source.
func findingAt(at engine.Position) func(code problem.Code, hint, format string, args ...any) (Finding, bool) {
	return func(code problem.Code, hint, format string, args ...any) (Finding, bool) {
		return Finding{Code: code, Finding: engine.Finding{Message: fmt.Sprintf(format, args...), Hint: hint, Position: at}}, true
	}
}

// checkFactCall checks a call whose argument is a fact. Calls with other kinds of stores are
// ignored.
func checkFactCall(a *app.App, t app.Tool, op abi.Operation, call engine.MemoryCall) (Finding, bool) {
	finding := findingAt(call.Position)
	if _, onFacts := abi.Facts().Lookup(op.Name); !onFacts {
		return Finding{}, false
	}
	if err := declare.CheckFactPath(call.Item); err != nil {
		return finding(problem.CodeMistake, "", "%s", err)
	}
	covering := slices.IndexFunc(t.Grants, func(g declare.Grant) bool { return g.Store == declare.Facts && g.Covers(call.Item) })
	allowed := slices.ContainsFunc(t.Grants, func(g declare.Grant) bool {
		return g.Store == declare.Facts && g.Covers(call.Item) && g.Allows(op.Verb)
	})
	switch {
	case allowed:
		return Finding{}, false
	case covering >= 0:
		g := t.Grants[covering]
		return finding(problem.MissingGrant, grantHint(g.Name(), append(slices.Clone(g.Verbs), op.Verb)...),
			"%s requires the grant %s on the fact %q", call.Op, op.Verb, call.Item)
	case !factOf(a)(call.Item):
		return finding(problem.UnknownStore, factHint(a, call.Item), "the fact %q is not declared", call.Item)
	}
	return finding(problem.MissingGrant, grantHint(call.Item, op.Verb), "the tool has no grant on the fact %q", call.Item)
}

// factHint returns a hint for a fact that is not declared.
func factHint(a *app.App, path string) string {
	var paths []string
	for _, f := range a.Facts {
		paths = append(paths, f.Path)
	}
	if near := spell.Name(path, paths); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "declare it in the app file: facts: {" + path + ": {}}"
}

// storeHint returns a hint for the name of a store that is not declared.
func storeHint(a *app.App, name string) string {
	names := []string{declare.SessionMeta}
	for _, s := range a.Stores {
		names = append(names, s.Name)
	}
	for _, b := range a.Blocks {
		names = append(names, b.Name)
	}
	if near := spell.Name(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "the declared stores are: " + strings.Join(names, ", ")
}

// blockHint returns a hint for the name of a block that is not declared.
func blockHint(a *app.App, name string) string {
	var names []string
	for _, b := range a.Blocks {
		names = append(names, b.Name)
	}
	if near := spell.Name(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(names) == 0 {
		return declareBlocks
	}
	return "the blocks are: " + strings.Join(names, ", ")
}

// grantHint returns a hint. The hint shows how an app file grants the missing verbs.
func grantHint(store string, verbs ...abi.Verb) string {
	var words []string
	for _, v := range []abi.Verb{abi.Read, abi.Write, abi.Delete} {
		if slices.Contains(verbs, v) {
			words = append(words, string(v))
		}
	}
	text := strings.Join(words, ", ")
	switch len(words) {
	case 2:
		text = "[" + text + "]"
	case 3:
		text = "readwrite"
	}
	return fmt.Sprintf("add a grant to the tool: grants: {%s: %s}", store, text)
}

// clamped returns a finding for each limit of a tool that is higher than the host's limit. If the
// limit of a tool is higher than the host's limit, the host's limit applies.
func clamped(h *Host, t *tool) []Finding {
	host := h.limits.For(declare.Limits{}, t.memory)
	var findings []Finding
	for _, l := range []struct {
		key                string
		requested, maximum int64
		size               bool
	}{
		{"memory", t.Limits.Memory, host.MemoryBytes, true},
		{"output", t.Limits.Output, int64(host.OutputBytes), true},
		{"calls", t.Limits.Calls, int64(host.Calls), false},
	} {
		if l.requested <= l.maximum {
			continue
		}
		format := func(n int64) string {
			if l.size {
				return bytesize.Format(n)
			}
			return fmt.Sprint(n)
		}
		findings = append(findings, Finding{Limit: l.key, Code: problem.OverLimit, Finding: engine.Finding{
			Message: fmt.Sprintf("limits.%s is %s, but the limit of this host is %s", l.key, format(l.requested), format(l.maximum)),
			Hint:    fmt.Sprintf("set limits.%s to at most %s, or use a host with a higher limit", l.key, format(l.maximum)),
		}})
	}
	return findings
}
