package app

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/bytesize"
)

// Export encodes the configuration of an app as one JSON document. The document contains the
// declarations of stores, facts, blocks, tools and prompts. The document also contains schemas, and
// the values in the key "env" of tools. The document contains neither stored records nor code. For
// a tool or an agent, the document contains only the path of its source file.
//
// The document is an app file. Export always encodes the same app as the same bytes. This is also
// true if the app was imported. If a tool or a prompt is broken, its declaration is incomplete.
// Therefore, Export rejects an app that contains broken tools or prompts.
func Export(a *App) ([]byte, error) {
	if err := brokenPart(a); err != nil {
		return nil, err
	}
	stores, err := section(a.Stores, func(s declare.Store) (string, any, error) { return exportStore(s) })
	if err != nil {
		return nil, err
	}
	var facts ordered // if the app has no facts, the key is omitted
	if a.Facts != nil {
		if facts, err = section(a.Facts, exportFact); err != nil {
			return nil, err
		}
	}
	blocks, err := exportBlocks(a.Blocks)
	if err != nil {
		return nil, err
	}
	tools, err := section(a.Tools, func(t Tool) (string, any, error) { return exportTool(t) })
	if err != nil {
		return nil, err
	}
	prompts, err := section(a.Prompts, func(p Prompt) (string, any, error) {
		return p.Name, exportedPrompt{p.Description, p.Template, exportGrants(p.Grants)}, nil
	})
	if err != nil {
		return nil, err
	}
	out := exportedApp{
		App: a.ID, SessionIdle: formatDuration(a.SessionIdle), Memory: stores, Facts: facts, Blocks: blocks, Sleep: exportSleep(a.Sleep), Agents: a.AgentFiles, Tools: tools, DefaultTool: a.DefaultTool, Prompts: prompts,
	}
	if a.AutoCollections {
		out.Collections = "auto"
	}
	if a.WorkflowIdle > 0 && a.WorkflowIdle != DefaultWorkflowIdle {
		out.WorkflowIdle = formatDuration(a.WorkflowIdle)
	}
	text, err := encode(out, "  ")
	if err == nil && len(text) > maxFileBytes {
		err = fmt.Errorf("export app %s: the app file would have %d KiB; the limit is %d KiB", a.ID, len(text)>>10, maxFileBytes>>10)
	}
	return text, err
}

// Import reads a document that Export has written. It can also read any other app file whose
// schemas are inline. Import reads no other files: Import does not check whether the source files
// of tools exist, and it ignores manifests. In each problem, the name of the file is the argument
// "name".
func Import(name string, document []byte) (*App, problem.List) {
	return Loader{}.Import(name, document)
}

// Import is like the function Import, but uses the limits of the Loader.
func (ld Loader) Import(name string, document []byte) (*App, problem.List) {
	l := ld.begin(nil)
	root, problems := parse(name, document)
	if root == nil {
		return nil, problems
	}
	return l.app(root)
}

func brokenPart(a *App) error {
	if len(a.BrokenAgents) > 0 {
		return fmt.Errorf("export app %s: its agents are invalid: %w", a.ID, a.BrokenAgents)
	}
	for _, t := range a.Tools {
		if len(t.Broken) > 0 {
			return fmt.Errorf("export app %s: tool %s is invalid: %w", a.ID, t.Name, t.Broken)
		}
	}
	for _, p := range a.Prompts {
		if len(p.Broken) > 0 {
			return fmt.Errorf("export app %s: prompt %s is invalid: %w", a.ID, p.Name, p.Broken)
		}
	}
	return nil
}

type exportedApp struct {
	App          string         `json:"app"`
	SessionIdle  string         `json:"session_idle"`
	WorkflowIdle string         `json:"workflow_idle,omitempty"` // omitted if the value is the default
	Memory       ordered        `json:"memory"`
	Facts        ordered        `json:"facts,omitzero"`
	Blocks       ordered        `json:"blocks,omitzero"`
	Collections  string         `json:"collections,omitempty"`
	Sleep        *exportedSleep `json:"sleep,omitempty"`
	Agents       []string       `json:"agents,omitzero"`
	Tools        ordered        `json:"tools,omitempty"`
	DefaultTool  string         `json:"default_tool,omitempty"`
	Prompts      ordered        `json:"prompts,omitempty"`
}

type exportedStore struct {
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Kind        declare.Kind    `json:"kind,omitempty"` // omitted if the kind is "document"
	Access      declare.Scope   `json:"access"`
	Retention   string          `json:"retention,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Expose      string          `json:"expose,omitempty"`
	// Only a collection has these keys. A collection does not have the key "strict".
	Embedding string            `json:"embedding,omitempty"`
	Erase     declare.EraseRule `json:"erase,omitempty"`
	Language  string            `json:"language,omitempty"`
}

// exportedTool always contains the keys for grants, models, approval, env and limits, even if their
// values are empty. If one of these keys were missing, Load would use the value in the manifest of
// the tool.
type exportedTool struct {
	Source       string              `json:"source"`
	Entry        string              `json:"entry,omitempty"`
	Title        string              `json:"title,omitempty"`
	Description  string              `json:"description,omitempty"`
	InputSchema  json.RawMessage     `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage     `json:"outputSchema,omitempty"`
	Annotations  declare.Annotations `json:"annotations,omitzero"`
	Grants       ordered             `json:"grants"`
	Models       []string            `json:"models"`
	Approval     exportedApproval    `json:"approval"`
	Env          map[string]string   `json:"env"`
	Limits       exportedLimits      `json:"limits"`
}

type exportedApproval struct {
	Before []string `json:"before"`
	By     string   `json:"by,omitempty"`
}

type exportedLimits struct {
	Timeout  string `json:"timeout,omitempty"`
	Deadline string `json:"deadline,omitempty"`
	CPU      string `json:"cpu,omitempty"`
	Memory   string `json:"memory,omitempty"`
	Output   string `json:"output,omitempty"`
	Calls    int64  `json:"calls,omitempty"`
	Fuel     int64  `json:"fuel,omitempty"`
}

type exportedPrompt struct {
	Description string  `json:"description,omitempty"`
	Template    string  `json:"template"`
	Grants      ordered `json:"grants,omitempty"`
}

func exportStore(s declare.Store) (string, any, error) {
	schema, err := canonical(s.Schema)
	if err != nil {
		return "", nil, fmt.Errorf("export schema of store %s: %w", s.Name, err)
	}
	if s.Access == declare.ScopeSession && s.Retention == (declare.Retention{}) {
		s.Retention.Session = true // the default retention
	}
	if s.Kind == declare.KindDocument {
		s.Kind = ""
	}
	out := exportedStore{
		Name: s.Title, Description: s.Description, Kind: s.Kind, Access: s.Access, Retention: s.Retention.String(), Schema: schema,
		Embedding: s.Collection.Embedding, Erase: s.Collection.Erase, Language: s.Collection.Language,
	}
	if s.Kind != declare.KindCollection {
		out.Strict = &s.Strict
	}
	switch {
	case s.Resource:
		out.Expose = exposedResource
	case s.Collection.Exposed:
		out.Expose = exposedRecall
	}
	return s.Name, out, nil
}

func exportLimits(l declare.Limits) exportedLimits {
	return exportedLimits{
		Timeout: written(l.Timeout, formatDuration), Deadline: written(l.Deadline, formatDuration), CPU: written(l.CPU, formatDuration),
		Memory: written(l.Memory, bytesize.Format), Output: written(l.Output, bytesize.Format), Calls: l.Calls, Fuel: l.Fuel,
	}
}

// written returns a limit in the notation of app files. If the tool does not have the limit,
// written returns "".
func written[T comparable](limit T, format func(T) string) string {
	var none T
	if limit == none {
		return ""
	}
	return format(limit)
}

func exportTool(t Tool) (string, any, error) {
	out := exportedTool{
		Source: t.Source, Entry: t.Entry, Title: t.Title, Description: t.Description,
		Annotations: t.Annotations, Grants: exportGrants(t.Grants), Models: append([]string{}, t.Models...), Env: t.Env,
	}
	if t.Dir != "" {
		out.Source = t.Dir + "/" // the slash marks the source as a folder
	}
	if out.Approval.Before = append([]string{}, t.Approval.Before...); t.Approval.ByUser {
		out.Approval.By = approvedByUser
	}
	if t.Env == nil {
		out.Env = map[string]string{}
	}
	out.Limits = exportLimits(t.Limits)
	var err error
	if out.InputSchema, err = canonical(t.InputSchema); err == nil {
		out.OutputSchema, err = canonical(t.OutputSchema)
	}
	if err != nil {
		return "", nil, fmt.Errorf("export schemas of tool %s: %w", t.Name, err)
	}
	return t.Name, out, nil
}

func exportGrants(grants []declare.Grant) ordered {
	out := ordered{}
	for _, g := range grants {
		out = append(out, pair{g.Name(), formatVerbs(g.Verbs)})
	}
	return out
}

// canonical encodes a schema as compact JSON. Like Load, it keeps the members in their original
// order.
func canonical(schema json.RawMessage) (json.RawMessage, error) {
	if schema == nil {
		return nil, nil
	}
	root, problems := parseJSON("schema", schema)
	if len(problems) > 0 {
		return nil, problems
	}
	var b bytes.Buffer
	root.appendJSON(&b)
	return b.Bytes(), nil
}

// ordered is a JSON object whose members have a fixed order.
type ordered []pair

type pair struct {
	key   string
	value any
}

func section[T any](parts []T, export func(T) (string, any, error)) (ordered, error) {
	out := ordered{}
	for _, part := range parts {
		name, value, err := export(part)
		if err != nil {
			return nil, err
		}
		out = append(out, pair{name, value})
	}
	return out, nil
}

// MarshalJSON encodes the members in their fixed order.
func (o ordered) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, p := range o {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := encode(p.value, "")
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, jsonText(p.key)...), ':'), value...)
	}
	return append(b, '}'), nil
}

// encode encodes the argument v as JSON. The characters "<" and ">" are not escaped.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return b.Bytes(), err
}
