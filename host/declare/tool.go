package declare

import (
	"encoding/json"
	"time"
)

// Tool is the declaration of a tool.
type Tool struct {
	// Name is the name of the tool: 1 to 128 letters, digits, "_", "-" or ".", as in MCP.
	Name string
	// Title and Description are shown to people and models.
	Title       string
	Description string
	// Source is the path of the entry file. Dir is the path of the tool's folder. Source and Dir
	// are relative to the app's folder and have forward slashes. Dir is "" if the tool is a single
	// file, and "." if the tool's folder is the app's folder.
	Source string
	Dir    string
	// Entry is the name of the plug-in's export that runs the tool. The default is the export that
	// the ABI defines.
	Entry string
	// InputSchema and OutputSchema are JSON Schemas, or nil.
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Annotations  Annotations
	// Grants are the tool's grants in the order of the declaration, at most one for each store.
	Grants []Grant
	// Env maps the names of the tool's environment variables to their values.
	Env    map[string]string
	Limits Limits
	// Models are the names of the models that the tool can use.
	Models []string
	// Approval contains the operations of the tool that require an approval.
	Approval Approval
}

// Approval declares that a run pauses before certain operations until a person has approved them.
type Approval struct {
	// Before contains the operations by the names of their functions, such as set_content or
	// model.chat.
	Before []string
	// ByUser is true if the user of the run may approve its operations.
	ByUser bool
}

// Annotations are MCP's hints about the behavior of a tool. If a hint is nil, the tool does not
// declare it.
type Annotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    *bool  `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool  `json:"destructiveHint,omitempty"`
	IdempotentHint  *bool  `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`
}

// Limits are the limits that a tool declares for its runs. If a limit is 0, the host's default
// applies.
type Limits struct {
	Timeout time.Duration
	// Deadline is the maximum duration of a run, including the time in which it waits for the
	// answers of external calls. Timeout does not include the time in which a run waits for
	// external calls.
	Deadline time.Duration
	// CPU is the maximum CPU time of an attempt.
	CPU time.Duration
	// Memory and Output are in bytes.
	Memory int64
	Output int64
	// Calls is the maximum number of memory calls of an attempt.
	Calls int64
	// Fuel is the maximum number of instructions that a WebAssembly guest executes in an attempt,
	// in units of up to 64 instructions.
	Fuel int64
}

// Prompt is the declaration of a prompt: a template that can read stores.
type Prompt struct {
	Name        string
	Description string
	Template    string
	// Grants lists the stores that the template can read, in the order of the declaration.
	Grants []Grant
}
