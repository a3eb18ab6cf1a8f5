package machine

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Extension is the extension of the files of machines.
const Extension = ".machine"

// The limits of a file.
const (
	// MaxFileBytes is the maximum size of a file.
	MaxFileBytes = 1 << 20
	// MaxItems is the maximum number of steps, of tests, and of fields of a machine.
	MaxItems = 500
	// MaxNesting is the maximum number of open brackets in JavaScript code.
	MaxNesting = 200
)

// Document is a parsed file. Document is immutable after parsing.
type Document struct {
	File string
	// Source is the text of the file with "\n" as the end of each line, without a byte order mark.
	// The positions and offsets of the document refer to Source.
	Source      string
	Name        Name
	Description string
	// Accepts are the fields of the input, and Responds are the fields of the output.
	Accepts, Responds []Field
	Permissions       Permissions
	Steps             []Step
	Tests             []Test
}

// Name is a name in a file, such as the name of a step.
type Name struct {
	Position
	Value string
}

// Field is a field of an input, of an output, or of the answer of a model.
type Field struct {
	Name
	Type Type
	// Items is the type of the items of a list, or "".
	Items Type
	// Required and Optional are true if the file contains the words "required" and "optional". By
	// default, an input is optional, and a field of an output or an answer is required.
	Required, Optional bool
	// Default is the value of an omitted input as JSON, or nil.
	Default json.RawMessage
}

// Type is the type of a field.
type Type string

// The types of fields.
const (
	Text    Type = "text"
	Number  Type = "number"
	Integer Type = "integer"
	Boolean Type = "boolean"
	List    Type = "list"
	Object  Type = "object"
	Any     Type = "any"
)

var types = []string{string(Text), string(Number), string(Integer), string(Boolean), string(List), string(Object), string(Any)}

// The permissions of machines.
const (
	Memory  = "memory"   // to use collections
	LLMCall = "llm_call" // to use language models
)

// Permissions are the permissions in the section "ensures".
type Permissions struct {
	// Allowed and Denied are names of permissions. A permission that is both allowed and denied is
	// denied.
	Allowed, Denied []Name
	// Approval contains the permissions and the kinds of steps that require an approval.
	Approval []Name
}

// Allows reports whether a permission is allowed and not denied.
func (p Permissions) Allows(permission string) bool {
	named := func(n Name) bool { return n.Value == permission }
	return slices.ContainsFunc(p.Allowed, named) && !slices.ContainsFunc(p.Denied, named)
}

// StepKind is the keyword of a step.
type StepKind string

// The kinds of steps.
const (
	Remember StepKind = "remember"
	Recall   StepKind = "recall"
	Forget   StepKind = "forget"
	Ask      StepKind = "ask"
	Compute  StepKind = "compute"
)

// Permission returns the permission that steps of the kind require, or "" if these steps require no
// permission.
func (k StepKind) Permission() string {
	switch k {
	case Remember, Recall, Forget:
		return Memory
	case Ask:
		return LLMCall
	default:
		return ""
	}
}

// Step is a step of a machine.
type Step struct {
	Position
	Kind StepKind
	Name Name
	// Model is the name of the model of a step "ask".
	Model Name
	// Settings are the settings of the step, such as "content", in the order of the file. In the
	// file, the settings "role" and "task" of a step "ask" are written as "with role" and "with
	// task".
	Settings []Setting
	// Returns are the fields of the answer of a step "ask". If Returns is empty, the answer is a
	// text.
	Returns []Field
	// Assuming are the fields of the answer of a step "ask" in tests.
	Assuming []Setting
	// Body is the JavaScript code of a step "compute".
	Body Script
}

// Setting returns the setting with a name. The result ok is false if the step does not have the
// setting.
func (s Step) Setting(name string) (setting Setting, ok bool) {
	for _, c := range s.Settings {
		if c.Value == name {
			return c, true
		}
	}
	return Setting{}, false
}

// Setting is a named JavaScript expression.
type Setting struct {
	Name
	Script Script
}

// Script is JavaScript code in a file, without the comments at its end.
type Script struct {
	Position
	Text string
	// Offset is the offset of the text in the source of the document.
	Offset int
}

// Literal returns the value of an expression that is a string, a number, a boolean or null in the
// notation of JSON. The result ok is false if the expression is not a literal.
func (s Script) Literal() (value any, ok bool) {
	if json.Unmarshal([]byte(s.Text), &value) != nil {
		return nil, false
	}
	switch v := value.(type) {
	case map[string]any, []any:
		return nil, false
	case string:
		return value, !interpolated(v)
	}
	return value, true
}

// TestEntry returns the name of an entry point of the code of a machine. This entry point executes
// the test with the given index. The result is an object with the members "input", "output" and
// "expect": the input and the output of the machine, and the expected output.
func TestEntry(index int) string { return "test-" + strconv.Itoa(index+1) }

// Test is a test in the section "verifies".
type Test struct {
	Position
	Name string
	// Given is the input of the machine, and Expect contains the expected fields of the output.
	// Both are JavaScript expressions.
	Given, Expect Script
	// Assuming contains the results of the steps that the test does not execute. The name of a
	// result is the name of the step.
	Assuming []Setting
}
