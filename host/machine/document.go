package machine

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Extension is the file name extension of machines.
const Extension = ".machine"

// The limits of a file.
const (
	// MaxFileBytes is the maximum size of a file.
	MaxFileBytes = 1 << 20
	// MaxItems is the maximum number of steps of a machine. It is also the maximum number of tests,
	// and the maximum number of fields.
	MaxItems = 500
	// MaxNesting is the maximum number of brackets that are open at any point of JavaScript code.
	MaxNesting = 200
)

// Document is a parsed file. Document is immutable after parsing.
type Document struct {
	File string
	// Source is the text of the file without a byte order mark. Each line of Source ends with "\n".
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

// Field is a field of the input, of the output, or of a model's answer.
type Field struct {
	Name
	Type Type
	// Items is the type of the list's items, if the field is a list. Otherwise, Items is "".
	Items Type
	// Required is true if the file contains the word "required" for the field. Optional is true if
	// the file contains the word "optional". Without these words, a field of the input is optional,
	// and a field of the output or of an answer is required.
	Required, Optional bool
	// Default is the JSON text of the field's default value. If the field has no default value,
	// Default is nil.
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
	// Allowed and Denied are names of permissions. If a name is in both lists, the permission is
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

// Permission returns the permission that steps of the kind require. If they require no permission,
// Permission returns "".
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
	// Model is the name of the model, in a step "ask".
	Model Name
	// Settings are the settings of the step in the order of the file. An example is "content". In
	// the file, the settings "role" and "task" of a step "ask" have the form "with role" and "with
	// task".
	Settings []Setting
	// Returns are the fields of the model's answer to a step "ask". If Returns is empty, the answer
	// is a text.
	Returns []Field
	// Assuming are the fields of the answer that tests use for a step "ask".
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

// Script is JavaScript code in a file. Comments at the end of the code are not part of a Script.
type Script struct {
	Position
	Text string
	// Offset is the offset of the text in the source of the document.
	Offset int
}

// Literal returns the value of an expression that is a literal. A literal is a string, a number, a
// boolean or null in the notation of JSON. If the expression is not a literal, the result ok is
// false.
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

// TestEntry returns the name of the entry point for the test with the given index. The code of a
// machine has an entry point for each test. The entry point returns an object with three members:
// "input" is the input of the machine, "output" is the output, and "expect" is the expected output.
func TestEntry(index int) string { return "test-" + strconv.Itoa(index+1) }

// Test is a test in the section "verifies".
type Test struct {
	Position
	Name string
	// Given is the input of the machine. Expect contains the fields that are expected in the
	// output. Both are JavaScript expressions.
	Given, Expect Script
	// Assuming contains the results of the steps that the test does not execute. The name of a
	// result is the name of its step.
	Assuming []Setting
}
