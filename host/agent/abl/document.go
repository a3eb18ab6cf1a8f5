package abl

import (
	"time"

	"github.com/toolrun/toolrun/host/problem"
)

// Document is a parsed agent file, or a parsed part of an agent file.
type Document struct {
	// File is the name of the file. Messages contain this name.
	File string
	// Agent is the name of the agent, or "" if the document is a part of a file.
	Agent Name
	Goal  Text
	// StrictTypes determines what happens to a value that does not have the declared type. If
	// StrictTypes is true, the value is rejected. Otherwise, the value is accepted with a warning.
	StrictTypes bool
	Memory      Memory
	// Constraints contains the constraints of all phases, in the order of the file.
	Constraints []Constraint
	Flow        Flow
	OnStart     *Body
	Hooks       []Hook
	// Tools contains the tools that the agent declares. ToolsDeclared reports whether the file
	// contains a list of tools.
	Tools         []Name
	ToolsDeclared bool
	Handoffs      []Handoff
	// Body is set if the parsed text is only a list of actions, not a complete file. OnFail is set
	// if the parsed text is only an ON_FAIL, not a complete file.
	Body   *Body
	OnFail *OnFail
	// Unsupported contains the names of the top-level blocks that toolrun does not support. These
	// blocks have no effect.
	Unsupported []Name
}

// Memory is the memory that an agent declares.
type Memory struct {
	Session    []Variable
	Persistent []Fact
	Triggers   []Trigger // remember
	Recalls    []Recall
}

// Type is the declared type of a variable. The types are: "string", "number", "boolean", "date",
// "array", "object", or "" for any type.
type Type string

// Reset is the event that resets a session variable to its initial value.
type Reset string

// The resets. The default is ResetSession.
const (
	ResetSession    Reset = "per_session"
	ResetActivation Reset = "per_activation"
	ResetStep       Reset = "per_step"
	ResetNever      Reset = "never"
)

// Variable is a session variable.
type Variable struct {
	Name
	Type        Type
	Description string
	Initial     any
	Reset       Reset
	Sensitive   *Sensitive
}

// Sensitive declares that a value is confidential. It determines how the value is displayed, for
// example in a trace.
type Sensitive struct {
	Display string // redact, mask or replace
	Mask    Mask
}

// Mask declares which characters remain visible in the display mode "mask".
type Mask struct {
	ShowFirst, ShowLast int
	Char                string
}

// FactScope is the owner of a fact.
type FactScope string

// The scopes of facts.
const (
	ScopeUser    FactScope = "user"
	ScopeProject FactScope = "project"
	ScopeTree    FactScope = "execution_tree"
)

// Access determines whether an agent can read a fact, write a fact, or both.
type Access string

// The directions. The default is AccessReadWrite.
const (
	AccessRead      Access = "read"
	AccessWrite     Access = "write"
	AccessReadWrite Access = "readwrite"
)

// Fact is a variable that is stored permanently. The name of a fact is its full dotted path.
type Fact struct {
	Name
	Scope       FactScope
	Access      Access
	Type        Type
	Unit        string
	Default     any
	Description string
	// Domain is the value of DOMAIN in the declaration of the fact. Without DOMAIN, Domain is the
	// second name of the path of the fact.
	Domain    string
	Sensitive *Sensitive
}

// Operation determines how a trigger changes a fact.
type Operation string

// The operations. The default is OperationOverwrite.
const (
	OperationOverwrite Operation = "overwrite"
	OperationAppend    Operation = "append"
)

// Trigger stores a value in a fact if a condition is true.
type Trigger struct {
	Position
	When      *Expr
	Value     *Expr
	Target    Name
	Operation Operation
	Unique    bool
	MaxSize   int           // 0 means no limit
	TTL       time.Duration // 0 means no expiry
	Domain    string
}

// Action of a Recall.
const (
	ActionInject = "inject_context"
	ActionLoad   = "load_memory"
	ActionPrompt = "prompt_llm"
)

// Recall loads facts or an instruction when an event fires.
type Recall struct {
	Position
	Event       Event
	Action      string
	Paths       []Name
	Domain      string
	Instruction string
}

// Event is a point in the life of a session, such as "tool:search:after". The Kind of an event is
// "session", "search", "agent", "tool", "entity" or "step". The Name of an event is the name of the
// agent, tool, field or step. The Name is "*" if the event matches all names. For the kinds
// "session" and "search", the Name is "". The Moment of an event is "start", "end", "before",
// "after", "extracted", "enter" or "exit".
type Event struct {
	Position
	Kind, Name, Moment string
}

// Rule is the kind of a constraint.
type Rule string

// The rules. A constraint with RuleRestrict fails if its condition is true. A constraint with any
// other rule fails if its condition is not true.
const (
	RuleRequire  Rule = "REQUIRE"
	RuleLimit    Rule = "LIMIT"
	RuleRestrict Rule = "RESTRICT"
	RuleWarn     Rule = "WARN"
)

// Constraint is a business rule, which an agent checks during a turn.
type Constraint struct {
	Position
	Phase     string
	Rule      Rule
	Severity  problem.Severity
	Condition *Expr
	When      *Expr // nil if the constraint always applies
	// Before is the checkpoint, "calling" or "returning", or "" if the constraint is checked before
	// every step. If Before is "calling", Tool is the called tool.
	Before string
	Tool   Name
	OnFail OnFail
	// inert is true if BEFORE of the constraint names a checkpoint that does not exist.
	inert bool
}

// Inert reports whether BEFORE of the constraint names a checkpoint that does not exist. Such a
// constraint is never checked.
func (c Constraint) Inert() bool { return c.inert }

// OnFail describes what happens if a constraint fails.
type OnFail struct {
	Position
	Respond  *Template
	Handoff  Name // the agent to which the conversation is handed over
	Escalate bool
	Block    bool // no message
	Collect  []Name
	Goto     Name // a step
	Retry    bool // run the step again
	// Then is "continue", "retry" or "". If Retry is true, the constraint is checked again after
	// the user has entered all fields in Collect.
	Then string
}

// Flow contains the steps of an agent.
type Flow struct {
	Position
	Entry Name // the name of the entry step, or "" if this is the first step of the file
	Steps []Step
}

// Step is a step of a flow.
type Step struct {
	Name
	Body
	// Reasoning is nil if the step does not declare REASONING.
	Reasoning      *bool
	When           *Expr
	Gather         *Gather
	OnInput        []Branch
	SubIntents     []SubIntent
	Digressions    []SubIntent
	IntentModel    string // the model that recognizes intents, or "" if only phrases are compared
	CompleteWhen   *Expr
	MaxAttempts    int
	OnExhausted    Name
	Goal           Text
	AvailableTools []Name
	ExitWhen       *Expr
	MaxTurns       int
	Model          string
}

// Body contains a list of actions and its successor. The actions are in the order of the file.
type Body struct {
	BodyAt  Position
	Actions []Action
	Then    Target // the target of THEN, or the zero value if the body has no THEN
}

// ActionKind is the kind of an Action.
type ActionKind string

// The kinds of actions.
const (
	KindSet       ActionKind = "SET"
	KindClear     ActionKind = "CLEAR"
	KindTransform ActionKind = "TRANSFORM"
	KindRespond   ActionKind = "RESPOND"
	KindCall      ActionKind = "CALL"
	KindCheck     ActionKind = "CHECK"
	KindGather    ActionKind = "GATHER" // Step.Gather
)

// Action is an action in a list of actions. The Kind of an action determines which of the following
// fields is set.
type Action struct {
	Position
	Kind      ActionKind
	Set       []Assignment
	Clear     []Name
	Transform *Transform
	Respond   *Template
	Call      *Call
	Check     *Expr
	// After a call, the agent runs OnSuccess or OnFail. If a check fails, the agent runs OnFail.
	OnSuccess, OnFail *Body
}

// Assignment sets a variable or a path to a value.
type Assignment struct {
	// Target is the path. If an index is constant, such as "[0]", the path contains the index as a
	// name. If an index is computed, the path contains the name ComputedIndex in its place.
	Target Name
	Value  *Expr
	// Indexes contains the computed indexes of the target, from left to right.
	Indexes []Index
}

// ComputedIndex is a name in the path of the target of an assignment. It stands for a computed
// index.
const ComputedIndex = "*"

// Index is a computed index. For example, "i - 1" is a computed index in "list[i - 1]". The field
// "Name" is the number of names that precede the index in the path.
type Index struct {
	Name  int
	Value *Expr
}

// Call is a call to a tool.
type Call struct {
	Tool Name
	Args []Assignment
	As   Name // the result is assigned to this variable, in addition to call_result
}

// Transform creates an array from another array.
type Transform struct {
	Position
	Source     *Expr
	As         Name
	Into       Name
	Filter     *Expr
	Map        []Assignment
	SortBy     Name // a field of the mapped items
	Descending bool
	Limit      *Expr
}

// TargetKind is the kind of a Target.
type TargetKind string

// The kinds of targets.
const (
	TargetStep     TargetKind = "step"
	TargetComplete TargetKind = "complete"
	TargetContinue TargetKind = "continue"
	TargetHandoff  TargetKind = "handoff"
	TargetEscalate TargetKind = "escalate"
)

// Target is the successor of a list of actions. The successor is a step, another agent, or the end
// of the flow. If the successor is a step or an agent, Name is its name.
type Target struct {
	Name
	Kind TargetKind
}

// Branch is a case of ON_INPUT. If the branch is ELSE, the field "If" is nil.
type Branch struct {
	Position
	If   *Expr
	Body Body
}

// SubIntent is an intent that a step recognizes, with the actions that the step then runs.
type SubIntent struct {
	Position
	Intent string
	Resume bool
	Body   Body
}

// Gather collects fields from the user.
type Gather struct {
	Position
	Fields []Field
	Prompt *Template
	Model  string
}

// Field is a field of Gather.
type Field struct {
	Name
	Required bool
	Prompt   *Template
	Type     Type
	Default  any
}

// Hook is a list of actions. The name of the hook determines when the actions are executed:
// "before_agent", "after_agent", "before_turn" or "after_turn".
type Hook struct {
	Name
	Body     Body
	Critical bool
}

// Handoff is an agent to which the conversation can pass.
type Handoff struct {
	Agent Name
	When  *Expr
}
