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
	// Source is the path of the entry file and Dir the path of the tool's folder, both relative to
	// the app's folder with forward slashes. Dir is "" if the tool is a single file, and "." if it
	// is the app's folder itself.
	Source string
	Dir    string
	// Entry is the export of a plug-in that runs the tool. Default: that of the plug-in contract.
	Entry string
	// InputSchema and OutputSchema are JSON Schemas, or nil for none.
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Annotations  Annotations
	// Grants are the tool's grants, at most one for each store, in the order of the declaration.
	// Default: none.
	Grants []Grant
	// Env is the environment of the tool.
	Env    map[string]string
	Limits Limits
}

// Annotations are MCP's hints about a tool's behaviour. A nil hint is not declared.
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
	// CPU bounds the processor time of an attempt.
	CPU time.Duration
	// Memory and Output are in bytes.
	Memory int64
	Output int64
	// Calls bounds the memory calls of an attempt.
	Calls int64
	// Fuel bounds the instructions of a WebAssembly guest in an attempt, in units of up to 64
	// instructions.
	Fuel int64
}

// Prompt is the declaration of a prompt: a template that reads memory.
type Prompt struct {
	Name        string
	Description string
	Template    string
	// Grants are the stores that the template may read, in the order of the declaration. Default:
	// none.
	Grants []Grant
}
