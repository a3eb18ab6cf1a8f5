package agent

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/problem"
)

// Set contains the compiled agents of an app. A Set is immutable and safe for concurrent use.
type Set struct {
	agents map[string]*program
	// masks contains the facts that are declared as sensitive.
	masks masks
	names []string // in the order of the arguments of Compile
	tools map[string]Tool
}

// Tool is a tool of the app that agents can call.
type Tool struct {
	Name        string
	Description string
	// Parameters is the JSON Schema of the input, or nil if any object is allowed.
	Parameters json.RawMessage
	// Approval contains those operations of the tool that require an approval. A turn cannot wait
	// for an approval. Therefore, a call to a tool that requires an approval can fail.
	Approval []string
}

// inputs returns the inputs that the schema of the tool describes. The result "ok" is false if the
// schema is not the schema of an object with known members. If an input has a default, the input is
// not required.
func (t Tool) inputs() (in abl.ToolInputs, ok bool) {
	var schema struct {
		Properties           map[string]json.RawMessage `json:"properties"`
		PatternProperties    json.RawMessage            `json:"patternProperties"`
		Required             []string                   `json:"required"`
		AdditionalProperties json.RawMessage            `json:"additionalProperties"`
	}
	if len(t.Parameters) == 0 || json.Unmarshal(t.Parameters, &schema) != nil {
		return in, false
	}
	for _, name := range schema.Required {
		var property struct {
			Default json.RawMessage `json:"default"`
		}
		if json.Unmarshal(schema.Properties[name], &property) != nil || property.Default == nil {
			in.Required = append(in.Required, name)
		}
	}
	in.Names = append(slices.Sorted(maps.Keys(schema.Properties)), in.Required...)
	in.Closed = string(schema.AdditionalProperties) == "false" && schema.PatternProperties == nil
	return in, true
}

// program is a compiled agent.
type program struct {
	*abl.Document
	name      string
	steps     map[string]int
	variables map[string]*abl.Variable
	// facts contains the declared facts of the agent, and the undeclared targets of its triggers.
	// The keys are paths. longest maps the first name of a path to the number of names in the
	// longest path that begins with this name.
	facts   map[string]*abl.Fact
	longest map[string]int
	// fieldTypes contains a type for each field. If several GATHERs declare a type for the same
	// field, the first type is used.
	fieldTypes map[string]abl.Type
	// keeps is true if the agent has a variable that is never reset.
	keeps bool
	// reasons is true if a step of the agent uses a model.
	reasons bool
	masks   masks
}

// Compile prepares the agents of an app for execution. Compile also checks that the agents are
// consistent with each other and with the tools of the app. If one of the returned problems is an
// error, the returned Set is nil. The documents must not contain errors. The caller must not change
// the documents after the call.
func Compile(docs []*abl.Document, tools []Tool) (*Set, problem.List) {
	s := &Set{agents: make(map[string]*program, len(docs)), tools: make(map[string]Tool, len(tools)), masks: newMasks(&abl.Document{}, docs)}
	names := make([]string, len(tools))
	inputs, approvals := make(map[string]abl.ToolInputs, len(tools)), make(map[string][]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
		s.tools[tool.Name], approvals[tool.Name] = tool, tool.Approval
		if known, ok := tool.inputs(); ok {
			inputs[tool.Name] = known
		}
	}
	problems := abl.CheckAll(docs)
	for _, d := range docs {
		problems = append(problems, abl.CheckTools(d, names)...)
		problems = append(problems, abl.CheckInputs(d, inputs)...)
		problems = append(problems, abl.CheckApprovals(d, approvals)...)
		problems = append(problems, checkModels(d)...)
		s.agents[d.Agent.Value] = compile(d, docs)
		s.names = append(s.names, d.Agent.Value)
	}
	if problems.Err() != nil {
		return nil, problems
	}
	return s, problems
}

// checkModels reports the steps that need a model but do not select one.
func checkModels(d *abl.Document) problem.List {
	var problems problem.List
	for i := range d.Flow.Steps {
		s := &d.Flow.Steps[i]
		if isReasoning(s) && s.Model == "" {
			problems = append(problems, problem.Problem{
				File: d.File, Line: s.Name.Line, Column: s.Name.Column, Code: problem.MissingKey, Severity: problem.Error,
				Message: "the step " + s.Value + " has REASONING: true but no MODEL",
				Hint:    "write `MODEL:` with the name of a configured chat model, or write `REASONING: false`",
			})
		}
	}
	return problems
}

// Agents returns the names of the agents. Their order is the order of the arguments of Compile.
func (s *Set) Agents() []string { return slices.Clone(s.names) }

func compile(d *abl.Document, all []*abl.Document) *program {
	p := &program{
		Document:   d,
		name:       d.Agent.Value,
		steps:      make(map[string]int, len(d.Flow.Steps)),
		variables:  make(map[string]*abl.Variable, len(d.Memory.Session)),
		facts:      make(map[string]*abl.Fact, len(d.Memory.Persistent)),
		longest:    map[string]int{},
		fieldTypes: map[string]abl.Type{},
		masks:      newMasks(d, all),
	}
	for i := range d.Flow.Steps {
		p.addStep(i)
	}
	for i := range d.Memory.Session {
		v := &d.Memory.Session[i]
		p.variables[v.Value] = v
		p.keeps = p.keeps || v.Reset == abl.ResetNever
	}
	for i := range d.Memory.Persistent {
		p.addFact(&d.Memory.Persistent[i])
	}
	for _, trigger := range d.Memory.Triggers {
		p.addFact(&abl.Fact{Name: trigger.Target, Access: abl.AccessReadWrite, Domain: trigger.Domain})
	}
	return p
}

// addStep adds a step of the flow.
func (p *program) addStep(i int) {
	step := &p.Flow.Steps[i]
	p.steps[step.Value] = i
	p.reasons = p.reasons || isReasoning(step)
	if step.Gather == nil {
		return
	}
	for _, f := range step.Gather.Fields {
		p.fieldTypes[f.Value] = cmp.Or(p.fieldTypes[f.Value], f.Type)
	}
}

// addFact adds a fact, unless a fact with the same path already exists.
func (p *program) addFact(f *abl.Fact) {
	if p.facts[f.Value] != nil || f.Value == "" {
		return
	}
	p.facts[f.Value] = f
	names := strings.Count(f.Value, ".") + 1
	first, _, _ := strings.Cut(f.Value, ".")
	p.longest[first] = max(p.longest[first], names)
}

// fact returns the fact whose path is equal to the given path or a prefix of it. The second result
// is the number of names in the path of this fact. If no fact has such a path, the method returns
// nil.
func (p *program) fact(path []string) (*abl.Fact, int) {
	for n := min(len(path), p.longest[path[0]]); n > 0; n-- {
		if f := p.facts[strings.Join(path[:n], ".")]; f != nil {
			return f, n
		}
	}
	return nil, 0
}

// step returns the step that has the given name, or nil.
func (p *program) step(name string) *abl.Step {
	i, ok := p.steps[name]
	if !ok {
		return nil
	}
	return &p.Flow.Steps[i]
}
