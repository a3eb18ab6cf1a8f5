package declare

import (
	"encoding/json"
	"time"
)

// Tool is the declaration of a tool.
type Tool struct {
	// Name follows MCP's rule for tool names: 1 to 128 letters, digits, "_", "-" or ".".
	Name string
	// Title and Description are for people and models.
	Title       string
	Description string
	// Source is the path of the entry file and Dir that of the tool's folder, both relative to the app's folder
	// with forward slashes. Dir is "" where the tool is one file and "." where it is the root itself.
	Source string
	Dir    string
	// Entry is the export of a plug-in that runs the tool; "" for the default of the contract.
	Entry string
	// InputSchema and OutputSchema are JSON Schemas, or nil for none.
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Annotations  Annotations
	// Grants are what the tool may do, in the order of the declaration, one for each store. Default: nothing.
	Grants []Grant
	// Env is what the tool sees as its environment.
	Env    map[string]string
	Limits Limits
}

// Annotations are the hints of MCP about what a tool does; nil means not said.
type Annotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    *bool  `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool  `json:"destructiveHint,omitempty"`
	IdempotentHint  *bool  `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`
}

// Limits are the limits that a tool declares for its runs. Zero means the host's default.
type Limits struct {
	Timeout time.Duration
	// CPU is the processor time of an attempt.
	CPU time.Duration
	// Memory and Output are in bytes.
	Memory int64
	Output int64
	// Calls is how many memory calls an attempt may make.
	Calls int64
	// Fuel is what WebAssembly may use up in an attempt, in units of up to 64 instructions.
	Fuel int64
}

// Prompt is the declaration of a prompt: a template that reads memory.
type Prompt struct {
	Name        string
	Description string
	Template    string
	// Grants are the stores that the template may read, in the order of the declaration. Default: none.
	Grants []Grant
}
