package apitypes

import (
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
)

// RunRequest is a request to run a tool.
type RunRequest struct {
	Tool string `json:"tool,omitempty" minLength:"1" maxLength:"128" doc:"Name of a declared tool. Default: the app's default_tool, or its only tool" example:"remember_me"`
	RunFields
}

// CodeRequest is a request to run code that the caller supplies instead of a declared tool.
type CodeRequest struct {
	Name     string `json:"name,omitempty" maxLength:"128" pattern:"^[A-Za-z0-9_.-]*$" doc:"Name of the code in the Result. Default: code" example:"node_7"`
	Language string `json:"language" doc:"Language of the code"`
	Code     string `json:"code" minLength:"1" doc:"The source: one file that can import only the standard library of the language"`
	// Grants maps store names to access modes, as in an app file: read, write, readwrite, or a
	// comma-separated list of verbs.
	Grants map[string]string `json:"grants,omitempty" doc:"Operations that the code can use, by store: read, write, delete, readwrite, or a comma-separated list" example:"{\"userPrefs\":\"read\"}"`
	RunFields
}

// RunFields are the fields that all run requests have in common.
type RunFields struct {
	Input    json.RawMessage `json:"input,omitempty" doc:"Input of the tool, a JSON object. Default: an object with the message"`
	Message  *string         `json:"message,omitempty" doc:"Message of the user. The tool receives the message as context.message and, if the request has no input, as input.message" example:"Hello"`
	Session  string          `json:"session_id,omitempty" maxLength:"128" doc:"Id of the session. A session that does not exist is started. With credentials of a user, the session must belong to that user" example:"sess_123"`
	Workflow string          `json:"workflow_id,omitempty" maxLength:"128" doc:"Id of the workflow of the run. Facts with the scope execution_tree belong to the workflow. A workflow that does not exist is started. With credentials of a user, the workflow must be the workflow in the claim of the credentials" example:"order_77"`
	User     string          `json:"user_id,omitempty" maxLength:"256" doc:"User on whose behalf the tool runs. Credentials of a user can name only that user. A user in the metadata has no effect"`
	Agent    string          `json:"agent_id,omitempty" maxLength:"256" doc:"The active agent, whose blocks the tool can use" example:"agent_records"`
	Metadata json.RawMessage `json:"metadata,omitempty" doc:"Merge patch (RFC 7396) for the session's metadata. The patch is applied before the run, and is not undone if the run fails"`
	Context  json.RawMessage `json:"context,omitempty" doc:"JSON object whose members are added to the tool's context, such as steps"`

	SessionReference string            `json:"session_reference,omitempty" maxLength:"256" doc:"The platform's own id of the session"`
	UserReference    string            `json:"user_reference,omitempty" maxLength:"256" doc:"The platform's own id of the user"`
	Env              map[string]string `json:"env,omitempty" doc:"Environment variables, in addition to the variables that the tool declares"`
	TimeoutMS        int64             `json:"timeout_ms,omitempty" minimum:"1" maximum:"180000" doc:"Time limit of the run in milliseconds, at most the limit that the tool declares. If the tool declares no limit, a request with an API key can exceed the default of 5 s"`
	DeadlineMS       int64             `json:"deadline_ms,omitempty" minimum:"1" maximum:"180000" doc:"Time limit of the whole run in milliseconds, including queueing and waiting for models. The time limit cannot exceed the deadline of the tool"`
	DryRun           bool              `json:"dry_run,omitempty" doc:"Store nothing. The member changes of the Result contains the changes that would be stored"`
	TestFields
}

// TestFields are the fields of requests that test tools and agents with models. Only operators can
// set the fields of TestFields.
type TestFields struct {
	Test  bool            `json:"test,omitempty" doc:"Store nothing, call no model without mocks, and start with empty collections. The member remembered of the Result contains the entries that would be stored"`
	Live  bool            `json:"live,omitempty" doc:"Whether a dry run calls models"`
	Mocks json.RawMessage `json:"mocks,omitempty" doc:"Answers that replace calls of models: an object that maps the name of each model to a list of answers. An answer is a text, or an object with the member text, object, tool_calls or error. The member recall can map each collection to a list of results that replace searches. A result is a list of entries with content, metadata, score and id, or an object with the member error. Mocks require the role operator"`
}

// SessionRequest is a request to start a session. If the request has a message, the app's default
// tool runs in the session.
type SessionRequest struct {
	Message          *string         `json:"message,omitempty" doc:"Message of the user. If the request contains a message, the app's default tool runs in the session with this message" example:"Hello"`
	Session          string          `json:"session_id,omitempty" maxLength:"128" doc:"Id of the session. Default: a new id. With credentials of a user, the session must belong to that user"`
	User             string          `json:"user_id,omitempty" maxLength:"256" doc:"Owner of the session. Default: the user of the credentials. With an API key and without a user, the session is anonymous until an API key sets the user"`
	Metadata         json.RawMessage `json:"metadata,omitempty" doc:"Merge patch (RFC 7396) for the session's metadata"`
	SessionReference string          `json:"session_reference,omitempty" maxLength:"256" doc:"The platform's own id of the session"`
	UserReference    string          `json:"user_reference,omitempty" maxLength:"256" doc:"The platform's own id of the user"`
}

// Run describes a run.
type Run struct {
	ID       string `json:"run_id"`
	Tool     string `json:"tool" doc:"Name of the tool, or of the code in the request"`
	User     string `json:"user_id,omitempty"`
	Session  string `json:"session_id,omitempty"`
	Workflow string `json:"workflow_id,omitempty"`
	Status   string `json:"status" enum:"queued,running,done" doc:"The status queued means that the run waits for compilation or capacity. The status done means that the run succeeded or failed"`
	// Cancelled reports whether cancellation of the run was requested. The Result shows whether the
	// run was canceled, or had already ended when the cancellation was requested.
	Cancelled bool       `json:"cancelled,omitempty" doc:"Whether a cancellation was requested. The result shows whether the cancellation took effect"`
	Created   time.Time  `json:"created" doc:"When the run was requested"`
	Started   *time.Time `json:"started,omitempty" doc:"When the first attempt began"`
	Ended     *time.Time `json:"ended,omitempty"`
	Expires   *time.Time `json:"expires_at,omitempty" doc:"Latest time at which the service forgets the ended run"`
	// Result is nil until the run has ended. If the result of the run is too large to keep, Result
	// stays nil.
	Result *report.Result `json:"result,omitempty" doc:"The Result; missing before the end of the run, and for a Result of more than 4 MiB"`
}

// Store is the declaration of a store. The fields of Store are named as in an app file.
type Store struct {
	TechnicalName string          `json:"technical_name" minLength:"1" maxLength:"64" doc:"Name that tools use for the store. The name cannot be changed" example:"userPrefs"`
	Name          string          `json:"name,omitempty" maxLength:"256" doc:"Display name" example:"User preferences"`
	Description   string          `json:"description,omitempty" maxLength:"4096" doc:"Purpose of the store"`
	Access        string          `json:"access" enum:"session,user,application" doc:"Owner of the records"`
	Retention     string          `json:"retention,omitempty" maxLength:"32" doc:"Lifetime of a record after the last write: session, 1_day, 1_week, 1_month, or a duration such as 90d, 24h or 30m. Default: records live until they are deleted" example:"1_month"`
	Strict        bool            `json:"strict,omitempty" doc:"Whether writes that violate the schema are rejected"`
	Schema        json.RawMessage `json:"schema,omitempty" doc:"JSON Schema of the content"`
	// Declared describes where the store is declared: "file" for the app file, "api" for this
	// service, or "built_in" for sessionMeta.
	Declared string `json:"declared,omitempty" readOnly:"true" enum:"file,api,built_in" doc:"Place of the declaration: the app file, the API, or built_in for sessionMeta, which only the host can change"`
	// Mistakes and Unfit appear only in the response to a declaration.
	Mistakes []SchemaMistake `json:"mistakes,omitempty" readOnly:"true" doc:"Constraints of the schema that have no effect. Such constraints make the declaration of a strict store invalid"`
	Unfit    *Unfit          `json:"unfit,omitempty" readOnly:"true" doc:"Records that violate the schema after a change of the schema"`
}

// StoreChange is a declaration that replaces an existing declaration.
type StoreChange struct {
	TechnicalName string          `json:"technical_name,omitempty" maxLength:"64" doc:"Name of the store in the path, or missing" example:"userPrefs"`
	Name          string          `json:"name,omitempty" maxLength:"256" doc:"Display name" example:"User preferences"`
	Description   string          `json:"description,omitempty" maxLength:"4096" doc:"Purpose of the store"`
	Access        string          `json:"access" enum:"session,user,application" doc:"Owner of the records"`
	Retention     string          `json:"retention,omitempty" maxLength:"32" doc:"Lifetime of a record after the last write: session, 1_day, 1_week, 1_month, or a duration such as 90d, 24h or 30m. Default: records live until they are deleted" example:"1_month"`
	Strict        bool            `json:"strict,omitempty" doc:"Whether writes that violate the schema are rejected"`
	Schema        json.RawMessage `json:"schema,omitempty" doc:"JSON Schema of the content"`
	// Declared, Mistakes and Unfit are accepted and ignored, so clients can send back a Store from
	// a response.
	Declared string          `json:"declared,omitempty" readOnly:"true" doc:"Place of the declaration: the app file or the API"`
	Mistakes []SchemaMistake `json:"mistakes,omitempty" readOnly:"true" doc:"Ignored in requests"`
	Unfit    *Unfit          `json:"unfit,omitempty" readOnly:"true" doc:"Ignored in requests"`
}

// SchemaMistake describes a schema constraint that has no effect.
type SchemaMistake struct {
	Pointer string `json:"pointer" doc:"JSON Pointer (RFC 6901) to the location in the schema"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty" doc:"How to fix the problem"`
}

// Unfit counts the records of a store that violate its schema.
type Unfit struct {
	Records int  `json:"records" doc:"Number of records that violate the schema. Tools read these records unchanged"`
	AtLeast bool `json:"at_least,omitempty" doc:"Whether only a part of the records was checked"`
}

// Tool describes a declared tool.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	// Broken is the reason why the tool cannot run.
	Broken string `json:"broken,omitempty"`
}

// Prompt describes a declared prompt.
type Prompt struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// RenderRequest is a request to render a prompt.
type RenderRequest struct {
	Session  string `json:"session_id,omitempty" maxLength:"128" doc:"Session whose records the prompt reads"`
	User     string `json:"user_id,omitempty" maxLength:"256" doc:"User whose records the prompt reads"`
	Workflow string `json:"workflow_id,omitempty" maxLength:"128" doc:"Workflow whose facts the prompt reads"`
	Agent    string `json:"agent_id,omitempty" maxLength:"256" doc:"Active agent, whose blocks the prompt also contains"`
	Message  string `json:"message,omitempty" doc:"Message of the user, for the archival mode auto"`
	// If Policy is nil, the default policy applies.
	Policy *MemoryPolicy `json:"memory_policy,omitempty" doc:"Which blocks the prompt contains"`
}

// Rendered is a rendered prompt.
type Rendered struct {
	Name string `json:"name"`
	Text string `json:"text"`
	// Missing lists the template expressions that rendered as empty text.
	Missing []string `json:"missing,omitempty" doc:"Expressions of the template whose value is missing or null. The prompt contains no text for these expressions" example:"[\"memory.userPrefs.language\"]"`
	// SystemReminders are the lines of blocks that match the message. Only the archival mode auto
	// returns lines.
	SystemReminders []string `json:"system_reminders,omitempty" doc:"Hidden messages for the current turn. The list is empty unless the archival mode is auto"`
}

// Record is a stored record with its content.
type Record struct {
	Content json.RawMessage `json:"content"`
	// Revision is 0 for sessionMeta, which has no revision. The times of sessionMeta are the times
	// of its session, if the session exists.
	Revision int64      `json:"revision,omitempty" doc:"Missing for sessionMeta, which has no revision"`
	Created  time.Time  `json:"created,omitzero" doc:"For sessionMeta, when the session began"`
	Updated  time.Time  `json:"updated_at,omitzero" doc:"For sessionMeta, when the session was last used"`
	Expires  *time.Time `json:"expires_at"`
	// Violations lists the schema violations of the content that was just written. A strict store
	// rejects content that violates the schema.
	Violations []abi.Violation `json:"violations,omitempty" doc:"Violations of the schema of a store that is not strict, in the response to a write"`
}

// Fact contains the value of a fact, and describes the record that stores this value. In lists of
// facts, Type and Default are missing.
type Fact struct {
	Path  string          `json:"path" example:"user.language"`
	Value json.RawMessage `json:"value"`
	// Type is the declared type, or "" if any type is allowed.
	Type string `json:"type,omitempty" doc:"The declared type of the fact; missing in lists, and if the app declares no type"`
	// Revision is 0 if no value is stored.
	Revision int64      `json:"revision" doc:"0 if no value is stored"`
	Updated  *time.Time `json:"updated_at"`
	Expires  *time.Time `json:"expires_at"`
	// Default is true if no value is stored. Value is then the declared default or null.
	Default    bool            `json:"default" doc:"Whether the value is the declared default or null, because no value is stored"`
	Violations []abi.Violation `json:"violations,omitempty" doc:"Problems of a value that does not have the declared type; only in the response to a write"`
}

// List is a page of a list. Next is the cursor of the next page, or "" on the last page.
type List[T any] struct {
	Items []T    `json:"items" nullable:"false"`
	Next  string `json:"next,omitempty" doc:"Value of after for the next page; missing on the last page"`
}

// FileChange changes an uploaded file.
type FileChange struct {
	Active bool `json:"is_active" doc:"Whether tools and prompts see the text of the file"`
}

// Removed is the number of removed records.
type Removed struct {
	Records int `json:"records"`
}

// Deleted is the response to a deletion. The field Deleted is false if the record did not exist.
type Deleted struct {
	Success bool `json:"success"`
	Deleted bool `json:"deleted"`
}

// Imported lists the stores that an import created or changed.
type Imported struct {
	Stores []string `json:"stores" nullable:"false"`
	// LeftOut lists the parts of the document that were not imported.
	LeftOut []LeftOut `json:"left_out" nullable:"false" doc:"Parts of the document that were not imported"`
}

// LeftOut describes a part of a document that was not imported.
type LeftOut struct {
	Kind   string `json:"kind" enum:"app,store,fact,block,agent,tool,prompt"`
	Name   string `json:"name"`
	Reason string `json:"reason" doc:"Why the part was not imported"`
}

// Whoami describes the credentials that a request carries.
type Whoami struct {
	Name     string   `json:"name"`
	Role     string   `json:"role"`
	Tenant   string   `json:"tenant"`
	Apps     []string `json:"apps" nullable:"false" doc:"Apps that the credentials may use"`
	User     string   `json:"user_id,omitempty"`
	Session  string   `json:"session_id,omitempty"`
	Workflow string   `json:"workflow_id,omitempty"`
}

// Problem is a problem document (RFC 9457) with a fault code.
type Problem struct {
	Type   string `json:"type" doc:"Kind of the problem" example:"urn:toolrun:fault:not_found"`
	Title  string `json:"title" doc:"Summary of the kind of problem"`
	Status int    `json:"status" doc:"The HTTP status"`
	Detail string `json:"detail" doc:"Description of this problem"`
	// Code is the abi.Code of the fault.
	Code  string `json:"code" doc:"Stable code of the fault, the same as on the command line and in tools"`
	Hint  string `json:"hint,omitempty" doc:"How to fix the problem"`
	Store string `json:"store,omitempty" doc:"Store that the problem concerns"`
	Item  string `json:"item,omitempty" doc:"Item that the problem concerns, in a store with items"`
	RunID string `json:"run_id,omitempty" doc:"Run in which the problem occurred"`
	// File, Line and Column locate the fault in the tool's code. Stack is the stack trace.
	File   string `json:"file,omitempty" doc:"File of the tool, relative to the tool's folder"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Stack  string `json:"stack,omitempty"`
	// Violations lists schema violations, located by JSON Pointers. Errors lists the parts of the
	// request that this API rejected.
	Violations []abi.Violation `json:"violations,omitempty"`
	Errors     []ProblemDetail `json:"errors,omitempty" doc:"Violations of the API in the request"`
	// Outcome is "unknown" if the service does not know whether the changes of the run were stored.
	Outcome string `json:"outcome,omitempty"`
}

// ProblemDetail describes one part of a request that the API rejected.
type ProblemDetail struct {
	Message  string `json:"message"`
	Location string `json:"location,omitempty" doc:"Location in the request, such as body.session_id"`
}

// Error returns the code and the detail of the problem.
func (p *Problem) Error() string {
	if p.Code == "" {
		return p.Detail
	}
	return p.Code + ": " + p.Detail
}
