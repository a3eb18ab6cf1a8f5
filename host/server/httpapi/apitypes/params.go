package apitypes

// Target selects the app of a request.
type Target struct {
	App string `query:"app" maxLength:"128" doc:"Id of the app. Credentials that are valid for only one app may omit the id"`
}

// AppID returns the id of the app, or "" if the request contains no id of an app.
func (t Target) AppID() string { return t.App }

// RunHeaders are the headers of a run request.
type RunHeaders struct {
	Key string `header:"Idempotency-Key" maxLength:"256" doc:"A repeated request with the same key returns the Result of the first request without running the tool again. Results are kept for 24 hours"`
}

// SessionPath is a path parameter that contains the id of a session.
type SessionPath struct {
	Session string `path:"session_id" minLength:"1" maxLength:"128" doc:"Id of the session: ASCII letters, digits and ._~:@=+-, but not only dots"`
}

// WorkflowPath is a path parameter that contains the id of a workflow.
type WorkflowPath struct {
	Workflow string `path:"workflow_id" minLength:"1" maxLength:"128" doc:"Id of the workflow: ASCII letters, digits and ._~:@=+-, but not only dots"`
}

// RunPath is a path parameter that contains the id of a run.
type RunPath struct {
	Run string `path:"run_id" minLength:"1" maxLength:"64" doc:"Id of the run, from the header Run-Id, the event run or the Result"`
}

// FilePath is a path parameter that contains the id of a file.
type FilePath struct {
	File string `path:"file_id" minLength:"1" maxLength:"256" doc:"Id of the file"`
}

// StorePath is a path parameter that contains the name of a store.
type StorePath struct {
	Store string `path:"store" minLength:"1" maxLength:"64" doc:"Technical name of the store"`
}

// UserQuery is a query parameter that contains the user for whom an operation acts.
type UserQuery struct {
	User string `query:"user_id" maxLength:"256" doc:"User on whose behalf the request is executed. Credentials of a user can name only that user"`
}

// PageQuery is the query that selects a page of a list.
type PageQuery struct {
	After string `query:"after" maxLength:"512" doc:"Value of next on the previous page"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum number of items to return"`
}

// UsageQuery is the query that selects a page of usage data.
type UsageQuery struct {
	Since string `query:"since" maxLength:"10" doc:"First day, such as 2026-11-01, in UTC. Default: the first day with data"`
	Until string `query:"until" maxLength:"10" doc:"Day after the last day of the range. Default: tomorrow"`
	After string `query:"after" maxLength:"1024" doc:"Value of next on the previous page"`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"100" doc:"Maximum number of apps to return"`
}

// Owner identifies the owner of records in an app.
type Owner struct {
	Target
	UserQuery
	Session string `query:"session_id" maxLength:"128" doc:"Session of the record, if the store has the access session"`
}

// Place identifies a record by store, user and session.
type Place struct {
	Owner
	StorePath
}

// FactOwner identifies the owner of facts.
type FactOwner struct {
	UserQuery
	Session  string `query:"session_id" maxLength:"128" doc:"Session of a fact with the scope execution_tree, if the request names no workflow"`
	Workflow string `query:"workflow_id" maxLength:"128" doc:"Workflow of a fact with the scope execution_tree. A write starts a workflow that does not exist"`
}

// FactPlace identifies a fact by path, user, session and workflow.
type FactPlace struct {
	Target
	FactOwner
	Path string `path:"path" minLength:"3" maxLength:"512" doc:"Path of the fact, such as user.language"`
}

// WriteOptions are the options of a write.
type WriteOptions struct {
	TTL string `query:"ttl" maxLength:"32" doc:"Lifetime of the record, such as 1h. The lifetime must not exceed the retention of the store"`
}

// Precondition is the precondition of a write request (RFC 9110, section 13).
type Precondition struct {
	IfMatch     string `header:"If-Match" maxLength:"64" doc:"The ETag that the record must have, or * for any record"`
	IfNoneMatch string `header:"If-None-Match" enum:"*" doc:"The value * requires that the record does not exist"`
}
