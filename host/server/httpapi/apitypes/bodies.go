package apitypes

import (
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
)

// RunRequest asks for a run of a tool.
type RunRequest struct {
	Tool string `json:"tool,omitempty" minLength:"1" maxLength:"128" doc:"Name of a declared tool. Default: the app's default_tool, or its only tool" example:"remember_me"`
	RunFields
}

// CodeRequest asks for a run of code that no app declares.
type CodeRequest struct {
	Name     string `json:"name,omitempty" maxLength:"128" pattern:"^[A-Za-z0-9_.-]*$" doc:"What the Result calls it. Default: code" example:"node_7"`
	Language string `json:"language" doc:"Language of the code"`
	Code     string `json:"code" minLength:"1" doc:"The source: one file, which imports nothing but what the language brings"`
	// Grants are verbs by the names of stores, as in an app file: read, write, readwrite, or several with commas.
	Grants map[string]string `json:"grants,omitempty" doc:"What the code may do with stores, by their names: read, write, delete, readwrite, or several with commas" example:"{\"userPrefs\":\"read\"}"`
	RunFields
}

// RunFields is what every run may be given.
type RunFields struct {
	Input    json.RawMessage `json:"input,omitempty" doc:"Input of the tool, a JSON object. Without it, the input is the message"`
	Message  *string         `json:"message,omitempty" doc:"What the user said: context.message, and input.message where there is no input" example:"Hello"`
	Session  string          `json:"session_id,omitempty" maxLength:"128" doc:"The session, which begins where it has not; with credentials of a user, one that is theirs" example:"sess_123"`
	User     string          `json:"user_id,omitempty" maxLength:"256" doc:"For whom the run acts. Credentials of a user act for that user alone; a user in metadata means nothing"`
	Metadata json.RawMessage `json:"metadata,omitempty" doc:"Merge patch (RFC 7396) on the session's metadata, set before the run; it stays where the run fails"`
	Context  json.RawMessage `json:"context,omitempty" doc:"JSON object with keys for the tool's context, such as steps"`

	SessionReference string            `json:"session_reference,omitempty" maxLength:"256" doc:"The platform's own name for the session"`
	UserReference    string            `json:"user_reference,omitempty" maxLength:"256" doc:"The platform's own name for the user"`
	Env              map[string]string `json:"env,omitempty" doc:"Added to the environment that the tool declares"`
	TimeoutMS        int64             `json:"timeout_ms,omitempty" minimum:"1" maximum:"180000" doc:"How long the run may take, in milliseconds; it shortens what the tool declares"`
	Dry              bool              `json:"dry_run,omitempty" doc:"Store nothing; the Result's changes tell what would be"`
}

// SessionRequest starts a session, and runs the app's default tool in it if it has a message.
type SessionRequest struct {
	Message          *string         `json:"message,omitempty" doc:"What the user said: runs the app's default tool in the session, as a run with this message does" example:"Hello"`
	Session          string          `json:"session_id,omitempty" maxLength:"128" doc:"Default: a new id. Credentials of a user may name a session that is theirs, and no other"`
	User             string          `json:"user_id,omitempty" maxLength:"256" doc:"Whose session it is. Default: the credentials' user, or nobody's until a key of the platform names a user for it"`
	Metadata         json.RawMessage `json:"metadata,omitempty" doc:"Merge patch (RFC 7396) on the session's metadata"`
	SessionReference string          `json:"session_reference,omitempty" maxLength:"256" doc:"The platform's own name for the session"`
	UserReference    string          `json:"user_reference,omitempty" maxLength:"256" doc:"The platform's own name for the user"`
}

// Run is a run as a request for its id finds it.
type Run struct {
	ID      string `json:"run_id"`
	Tool    string `json:"tool" doc:"Name of the tool, or what the request called its code"`
	User    string `json:"user_id,omitempty"`
	Session string `json:"session_id,omitempty"`
	Status  string `json:"status" enum:"queued,running,done" doc:"queued: it waits for its tool to be compiled, or for its turn; done: it has ended, however"`
	// Cancelled says that someone asked to cancel it; its Result says whether that came in time.
	Cancelled bool       `json:"cancelled,omitempty" doc:"It was asked to be cancelled; the result says whether that was in time"`
	Created   time.Time  `json:"created" doc:"When it was asked for"`
	Started   *time.Time `json:"started,omitempty" doc:"When its first attempt began"`
	Ended     *time.Time `json:"ended,omitempty"`
	Expires   *time.Time `json:"expires_at,omitempty" doc:"When a run that has ended is not found any more, at the latest"`
	// Result is nil until the run has ended, and if it is too large to be kept.
	Result *report.Result `json:"result,omitempty" doc:"What came of it; missing until it has ended, and if it has more than 4 MiB"`
}

// Store declares a piece of memory, in the words of an app file.
type Store struct {
	TechnicalName string          `json:"technical_name" minLength:"1" maxLength:"64" doc:"The name that tools use; it never changes" example:"userPrefs"`
	Name          string          `json:"name,omitempty" maxLength:"256" doc:"Name for people" example:"User preferences"`
	Description   string          `json:"description,omitempty" maxLength:"4096" doc:"What it is for"`
	Access        string          `json:"access" enum:"session,user,application" doc:"Whose memory it is"`
	Retention     string          `json:"retention,omitempty" maxLength:"32" doc:"How long a record lives after its last write: session, 1_day, 1_week, 1_month, or such as 90d, 24h, 30m. Default: until it is deleted" example:"1_month"`
	Strict        bool            `json:"strict,omitempty" doc:"Refuse writes that do not fit the schema"`
	Schema        json.RawMessage `json:"schema,omitempty" doc:"JSON Schema of the content"`
	// Declared says where: file for the app file, api for this service, built_in for sessionMeta.
	Declared string `json:"declared,omitempty" readOnly:"true" enum:"file,api,built_in" doc:"Where it is declared: in the app file, or through the API; built_in for sessionMeta, which the host writes"`
	// Mistakes and Unfit are in the answer to a declaration.
	Mistakes []SchemaMistake `json:"mistakes,omitempty" readOnly:"true" doc:"What the schema seems to check and does not; a strict store with one is refused"`
	Unfit    *Unfit          `json:"unfit,omitempty" readOnly:"true" doc:"Records that no longer fit, after a change"`
}

// StoreChange is a declaration that replaces another one.
type StoreChange struct {
	TechnicalName string          `json:"technical_name,omitempty" maxLength:"64" doc:"The store of the path, which it must be where it is given" example:"userPrefs"`
	Name          string          `json:"name,omitempty" maxLength:"256" doc:"Name for people" example:"User preferences"`
	Description   string          `json:"description,omitempty" maxLength:"4096" doc:"What it is for"`
	Access        string          `json:"access" enum:"session,user,application" doc:"Whose memory it is"`
	Retention     string          `json:"retention,omitempty" maxLength:"32" doc:"How long a record lives after its last write: session, 1_day, 1_week, 1_month, or such as 90d, 24h, 30m. Default: until it is deleted" example:"1_month"`
	Strict        bool            `json:"strict,omitempty" doc:"Refuse writes that do not fit the schema"`
	Schema        json.RawMessage `json:"schema,omitempty" doc:"JSON Schema of the content"`
	// Declared, Mistakes and Unfit are of the service: what a client sends back of an answer is not looked at.
	Declared string          `json:"declared,omitempty" readOnly:"true" doc:"Where it is declared: in the app file, or through the API"`
	Mistakes []SchemaMistake `json:"mistakes,omitempty" readOnly:"true" doc:"Of an answer; not looked at"`
	Unfit    *Unfit          `json:"unfit,omitempty" readOnly:"true" doc:"Of an answer; not looked at"`
}

// SchemaMistake is what a schema seems to check and does not.
type SchemaMistake struct {
	Pointer string `json:"pointer" doc:"JSON Pointer (RFC 6901) of the place in the schema"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty" doc:"What to do about it"`
}

// Unfit counts the records of a store that do not fit its schema.
type Unfit struct {
	Records int  `json:"records" doc:"Records that do not fit; tools read them as they are"`
	AtLeast bool `json:"at_least,omitempty" doc:"Not all records were looked at"`
}

// Tool describes a declared tool.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	// Broken says why it cannot run.
	Broken string `json:"broken,omitempty"`
}

// Prompt describes a declared prompt.
type Prompt struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// RenderRequest asks for a prompt.
type RenderRequest struct {
	Session string `json:"session_id,omitempty" maxLength:"128" doc:"The session whose memory it reads"`
	User    string `json:"user_id,omitempty" maxLength:"256" doc:"The user whose memory it reads"`
}

// Rendered is a rendered prompt.
type Rendered struct {
	Name string `json:"name"`
	Text string `json:"text"`
	// Missing are the expressions of the template that rendered as nothing.
	Missing []string `json:"missing,omitempty" doc:"What the template names and is not stored, or null: it rendered as nothing" example:"[\"memory.userPrefs.language\"]"`
}

// Record is a record of a store with its content.
type Record struct {
	Content json.RawMessage `json:"content"`
	// Revision is 0 for sessionMeta, which has none; it has the times of the session, if there is one.
	Revision int64      `json:"revision,omitempty" doc:"Missing for sessionMeta, which has none"`
	Created  time.Time  `json:"created,omitzero" doc:"For sessionMeta, when the session began"`
	Updated  time.Time  `json:"updated_at,omitzero" doc:"For sessionMeta, when the session was used last"`
	Expires  *time.Time `json:"expires_at"`
	// Violations are what of a content that was just written does not fit the schema of its store, which is not strict.
	Violations []abi.Violation `json:"violations,omitempty" doc:"What does not fit the schema of a store that is not strict, in the answer to a write"`
}

// List is a page of a list. Next, where it is given, asks for the page after it.
type List[T any] struct {
	Items []T    `json:"items" nullable:"false"`
	Next  string `json:"next,omitempty" doc:"To be given as after for the next page; there is none where it is missing"`
}

// FileChange changes an uploaded file.
type FileChange struct {
	Active bool `json:"is_active" doc:"Whether tools and prompts see the file's text"`
}

// Removed counts what was removed.
type Removed struct {
	Records int `json:"records"`
}

// Deleted says whether there was a record.
type Deleted struct {
	Success bool `json:"success"`
	Deleted bool `json:"deleted"`
}

// Imported lists the stores that an import created or changed.
type Imported struct {
	Stores []string `json:"stores" nullable:"false"`
	// LeftOut is what else the document has.
	LeftOut []LeftOut `json:"left_out" nullable:"false" doc:"What the document has and was not imported"`
}

// LeftOut is a part of a document that was not imported.
type LeftOut struct {
	Kind   string `json:"kind" enum:"app,store,tool,prompt"`
	Name   string `json:"name"`
	Reason string `json:"reason" doc:"Why it was not imported"`
}

// Whoami says whose the credentials are.
type Whoami struct {
	Name    string   `json:"name"`
	Role    string   `json:"role"`
	Tenant  string   `json:"tenant"`
	Apps    []string `json:"apps" nullable:"false" doc:"The apps that it may use here"`
	User    string   `json:"user_id,omitempty"`
	Session string   `json:"session_id,omitempty"`
}

// Problem is an error as RFC 9457 has it, with the code of a fault.
type Problem struct {
	Type   string `json:"type" doc:"Names the kind of the problem" example:"urn:toolrun:fault:not_found"`
	Title  string `json:"title" doc:"The same for every problem of the kind"`
	Status int    `json:"status" doc:"The HTTP status"`
	Detail string `json:"detail" doc:"What went wrong here"`
	// Code is an abi.Code, the same as on every surface.
	Code  string `json:"code" doc:"Stable code of the fault, the same as on the command line and in tools"`
	Hint  string `json:"hint,omitempty" doc:"What to do about it"`
	Store string `json:"store,omitempty" doc:"The memory store that it is about"`
	Item  string `json:"item,omitempty" doc:"The record of the store that it is about, in a store with many"`
	RunID string `json:"run_id,omitempty" doc:"The run that it happened in"`
	// File, Line, Column and Stack are a place in the tool's code.
	File   string `json:"file,omitempty" doc:"File of the tool that it is about, from the tool's folder"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Stack  string `json:"stack,omitempty"`
	// Violations say what does not fit a schema, by JSON pointers; Errors what does not fit this API.
	Violations []abi.Violation `json:"violations,omitempty"`
	Errors     []ProblemDetail `json:"errors,omitempty" doc:"What in the request does not fit the API"`
	// Outcome is unknown where it is not known whether a run was stored.
	Outcome string `json:"outcome,omitempty"`
}

// ProblemDetail says where a request does not fit the API.
type ProblemDetail struct {
	Message  string `json:"message"`
	Location string `json:"location,omitempty" doc:"Such as body.session_id"`
}

// Error is the detail of the problem.
func (p *Problem) Error() string {
	if p.Code == "" {
		return p.Detail
	}
	return p.Code + ": " + p.Detail
}
