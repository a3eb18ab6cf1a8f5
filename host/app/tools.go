package app

import (
	"path"
	"strings"
	"time"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// declared contains the keys that a tool can have in the app file and in a manifest.
var declared = []string{"title", "description", "inputSchema", "outputSchema", "annotations", "grants", "models", "approval", "env", "limits", "entry"}

var (
	toolKeys     = append([]string{"source"}, declared...)
	manifestKeys = append([]string{"name", "source"}, declared...)

	annotationKeys = []string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
	limitKeys      = []string{"timeout", "deadline", "cpu", "memory", "output", "calls", "fuel"}
)

var toolName = lazyregexp.New(`^[A-Za-z0-9_.-]{1,128}$`)

// toolReader reads the section "tools" of the app file. toolReader also reads the manifests of
// tools.
type toolReader struct {
	fieldReader
	schemas    *schemaReader
	sources    *sourceReader
	grants     *grantReader
	maxTimeout time.Duration
	maxMemory  int64 // bytes
}

// tools returns the declared tools.
func (r *toolReader) tools(n *node) []Tool {
	own := func(name string) { r.own(name, "") }
	var tools []Tool
	for _, m := range r.entries(n, "tools", "tool", own) {
		r.own(m.key, "")
		tools = append(tools, r.tool(m))
		r.own("", "")
	}
	return tools
}

// defaultTool reads the name of the app's default tool. If a run names no tool, the app executes
// this tool.
func (r *toolReader) defaultTool(n *node, a *App) string {
	if n == nil {
		return ""
	}
	name := r.text(n, "default_tool")
	if _, ok := a.Tool(name); ok || n.kind != text {
		return name
	}
	known := make([]string, len(a.Tools))
	for i, t := range a.Tools {
		known[i] = t.Name
	}
	r.errorf(n.position, problem.BadValue, didYouMean(name, known), "the value of `default_tool` is %s, but the app does not declare this tool", problem.Quote(name))
	return ""
}

// tool reads the entry of a tool in the app file. If the source is a folder, tool also reads the
// manifest in this folder.
func (r *toolReader) tool(m member) Tool {
	t, before := Tool{Tool: declare.Tool{Name: m.key}}, len(r.problems)
	r.checkToolName(m.position, m.key, "tool")
	if !r.named(m, "a tool", toolKeys) {
		return t
	}
	if lacks(m.value, "source", toolKeys) {
		r.errorf(m.position, problem.MissingKey, "add source: tools/"+m.key+".js or the folder of the tool", "the tool %s has no source", problem.Quote(m.key))
		return t
	}
	var manifest *node
	if source := m.value.get("source"); source != nil {
		manifest = r.sources.source(source, &t)
	}
	if manifest != nil && !r.keys(manifest, "a tool manifest", manifestKeys) {
		manifest = nil
	}
	r.declaration(m.position, before, &t, m.value, manifest)
	return t
}

func (r fieldReader) checkToolName(at position, name, what string) {
	if toolName().MatchString(name) {
		return
	}
	hint := ""
	if near := strings.Trim(notInName().ReplaceAllString(name, "_"), "_"); toolName().MatchString(near) {
		hint = "write " + near
	}
	r.errorf(at, problem.BadName, hint, "the text %s is not a valid name of a %s: use 1 to 128 letters, digits, '_', '-' or '.'", problem.Quote(name), what)
}

// declaration sets the fields of a tool's declaration. The value of a key is read from the first
// node in the list "from" that contains the key. The argument "before" is the index of the first
// problem that belongs to the tool.
func (r *toolReader) declaration(at position, before int, t *Tool, from ...*node) {
	get := func(key string) *node {
		for _, n := range from {
			if n == nil {
				continue
			}
			if v := n.get(key); v != nil {
				return v
			}
		}
		return nil
	}
	t.Title = r.text(get("title"), "title")
	t.Description = r.text(get("description"), "description")
	input := r.schemas.schema(get("inputSchema"), "inputSchema")
	r.objectSchema(input)
	t.InputSchema = r.schemas.compiled(input, false)
	t.OutputSchema = r.schemas.compiled(r.schemas.schema(get("outputSchema"), "outputSchema"), false)
	t.Annotations = r.annotations(get("annotations"))
	t.Grants = r.grants.grants(get("grants"))
	r.lintReadOnly(get("annotations"), t)
	t.models = get("models")
	t.Models = r.models(t.models)
	t.approval = get("approval")
	t.Approval = r.approval(t.approval)
	t.Env = r.env(get("env"))
	t.limits = get("limits")
	t.Limits = r.limits(t.limits)
	if entry := get("entry"); entry != nil {
		t.Entry = r.text(entry, "entry")
		if t.Source != "" && path.Ext(t.Source) != ".wasm" {
			r.errorf(entry.position, problem.BadValue, "omit entry", "the key `entry` is only valid for .wasm plug-ins, not for %s", problem.Quote(t.Source))
		}
	}
	r.machine(at, t, get)
	if t.Description == "" && r.problems[before:].Err() == nil {
		r.warnf(at, problem.NoDescription, "add the key `description`: what the tool does and when to use it", "the tool %s has no description", problem.Quote(t.Name))
	}
}

// objectSchema reports an error if an input schema has a type other than "object".
func (r *toolReader) objectSchema(n *node) {
	if n == nil {
		return
	}
	if kind := n.get("type"); kind != nil && (kind.kind != text || kind.value != "object") {
		r.errorf(kind.position, problem.BadSchema, "write type: object", "the input schema of a tool must be of type object")
	}
}

func (r *toolReader) annotations(n *node) declare.Annotations {
	if n == nil || !r.keys(n, "annotations", annotationKeys) {
		return declare.Annotations{}
	}
	return declare.Annotations{
		Title:           r.text(n.get("title"), "title"),
		ReadOnlyHint:    r.flag(n.get("readOnlyHint"), "readOnlyHint"),
		DestructiveHint: r.flag(n.get("destructiveHint"), "destructiveHint"),
		IdempotentHint:  r.flag(n.get("idempotentHint"), "idempotentHint"),
		OpenWorldHint:   r.flag(n.get("openWorldHint"), "openWorldHint"),
	}
}

var envName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// env reads the environment of a tool. Numbers and booleans are converted to strings that have the
// same spelling, as in a shell.
func (r *toolReader) env(n *node) map[string]string {
	if n == nil || n.kind == null {
		return nil
	}
	if n.kind != object {
		r.errorf(n.position, problem.WrongType, "write `env: {NAME: value}`", "the value of `env` must be a mapping from names to strings, not %s", n.kind)
		return nil
	}
	r.once(n)
	env := make(map[string]string, len(n.members))
	for _, m := range n.members {
		if !envName().MatchString(m.key) {
			r.errorf(m.position, problem.BadName, "use letters, digits and '_'", "the text %s is not a valid name of a variable", problem.Quote(m.key))
		}
		switch v := m.value; v.kind {
		case text, number, boolean:
			env[m.key] = v.value
		case null:
			r.errorf(m.position, problem.WrongType, `write "" for an empty string`, "the variable %s has no value", problem.Quote(m.key))
		default:
			r.errorf(v.position, problem.WrongType, "", "the variable %s must be a string, not %s", problem.Quote(m.key), v.kind)
		}
	}
	return env
}

func (r *toolReader) limits(n *node) declare.Limits {
	if n == nil || n.kind == null || !r.keys(n, "limits", limitKeys) {
		return declare.Limits{}
	}
	var limits declare.Limits
	if v := n.get("timeout"); v != nil {
		limits.Timeout = r.duration(v, "timeout", minTimeout, r.maxTimeout)
	}
	if v := n.get("deadline"); v != nil {
		limits.Deadline = r.duration(v, "deadline", minTimeout, r.maxTimeout)
	}
	if v := n.get("cpu"); v != nil {
		limits.CPU = r.duration(v, "cpu", minTimeout, r.maxTimeout)
	}
	if v := n.get("memory"); v != nil {
		limits.Memory = r.size(v, "memory", minMemory, r.maxMemory)
	}
	if v := n.get("output"); v != nil {
		limits.Output = r.size(v, "output", minOutput, maxOutput)
	}
	if v := n.get("calls"); v != nil {
		limits.Calls = r.count(v, "calls", maxCount)
	}
	if v := n.get("fuel"); v != nil {
		limits.Fuel = r.count(v, "fuel", maxCount)
	}
	return limits
}
