package declare

import (
	"encoding/json"
	"time"
)

// Tool is the declaration of a tool.
type Tool struct {
	// Name is the name of the tool. Name consists of 1 to 128 letters, digits, "_", "-" or ".", as
	// in MCP.
	Name string
	// Title and Description are texts for people and models.
	Title       string
	Description string
	// Source is the path of the file in which the tool's code begins. Dir is the path of the folder
	// that contains the tool. Source and Dir are relative to the app's folder. They contain forward
	// slashes. If the tool is a single file, Dir is "". If the tool's folder is the app's folder,
	// Dir is ".".
	Source string
	Dir    string
	// Entry is the name of the function that a plug-in exports to run the tool. The ABI defines the
	// default of Entry.
	Entry string
	// InputSchema and OutputSchema are JSON Schemas. Both can be nil.
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Annotations  Annotations
	// Grants contains the tool's grants, in the order of their declaration. Grants contains at most
	// one grant for each store.
	Grants []Grant
	// Env contains the environment variables of the tool. The keys are their names.
	Env    map[string]string
	Limits Limits
	// Models contains the names of the models that the tool can use.
	Models []string
	// Approval contains those operations of the tool that require an approval.
	Approval Approval
}

// Approval declares that some operations require an approval. Before such an operation, the run
// pauses until a person has approved it.
type Approval struct {
	// Before contains these operations. An operation is identified by the name of its function,
	// such as set_content or model.chat.
	Before []string
	// If ByUser is true, the user of the run can approve its operations.
	ByUser bool
}

// Annotations are hints, defined by MCP, about the behavior of a tool. If a hint is nil, the tool
// does not declare this hint.
type Annotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    *bool  `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool  `json:"destructiveHint,omitempty"`
	IdempotentHint  *bool  `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`
}

// Limits are limits for the runs of a tool. The tool declares them. If a limit is 0, the default of
// the host applies.
type Limits struct {
	Timeout time.Duration
	// Deadline is the maximum duration of a run. It includes the time in which the run waits for
	// external calls. Timeout is also a maximum duration, but without the time in which the run
	// waits for external calls.
	Deadline time.Duration
	// CPU is the maximum CPU time of one attempt to execute the run.
	CPU time.Duration
	// Memory and Output are numbers of bytes.
	Memory int64
	Output int64
	// Calls is the maximum number of memory calls in one attempt.
	Calls int64
	// Fuel is the maximum number of instructions that a WebAssembly guest executes in one attempt.
	// One unit stands for up to 64 instructions.
	Fuel int64
}

// Prompt is the declaration of a prompt. A prompt is a template that can read stores.
type Prompt struct {
	Name        string
	Description string
	Template    string
	// Grants contains the stores that the template can read, in the order of their declaration.
	Grants []Grant
}
