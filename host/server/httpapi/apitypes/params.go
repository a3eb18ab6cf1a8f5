package apitypes

// Target names the app that a request is about.
type Target struct {
	App string `query:"app" maxLength:"128" doc:"Id of the app. It may be left out where the credentials are for one app alone"`
}

// AppID is the app's id, "" where none is named.
func (t Target) AppID() string { return t.App }

// RunHeaders are the headers of a run.
type RunHeaders struct {
	Key string `header:"Idempotency-Key" maxLength:"256" doc:"Answers a repeated request with the first one's Result, without running again; kept for 24 hours"`
}

// SessionPath names a session in a path.
type SessionPath struct {
	Session string `path:"session_id" minLength:"1" maxLength:"128" doc:"Id of the session: letters of ASCII, digits and ._~:@=+-, not only dots"`
}

// RunPath names a run in a path.
type RunPath struct {
	Run string `path:"run_id" minLength:"1" maxLength:"64" doc:"Id of the run, from the header Run-Id, the event run or the Result"`
}

// FilePath names a file in a path.
type FilePath struct {
	File string `path:"file_id" minLength:"1" maxLength:"256" doc:"Id of the file"`
}

// StorePath names a store in a path.
type StorePath struct {
	Store string `path:"store" minLength:"1" maxLength:"64" doc:"Technical name of the store"`
}

// UserQuery names the user that an operation acts for.
type UserQuery struct {
	User string `query:"user_id" maxLength:"256" doc:"For whom the request acts; credentials of a user act for that user alone"`
}

// PageQuery asks for a page of a list.
type PageQuery struct {
	After string `query:"after" maxLength:"512" doc:"The next of the page before"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many items to answer at most"`
}

// UsageQuery asks for a page of what apps use.
type UsageQuery struct {
	Since string `query:"since" maxLength:"10" doc:"The first day, such as 2026-11-01, in UTC. Default: the first one that is kept"`
	Until string `query:"until" maxLength:"10" doc:"The day after the last one. Default: today is the last one"`
	After string `query:"after" maxLength:"1024" doc:"The next of the page before"`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"100" doc:"How many apps to answer at most"`
}

// Place names a record: of a store, a user, a session.
type Place struct {
	Target
	StorePath
	UserQuery
	Session string `query:"session_id" maxLength:"128" doc:"Whose record of a store that lives with a session"`
}

// WriteOptions are those of writing a record.
type WriteOptions struct {
	TTL string `query:"ttl" maxLength:"32" doc:"Let the record end earlier than its store says, such as 1h"`
}

// Precondition is what must hold for a record to be written (RFC 9110, section 13).
type Precondition struct {
	IfMatch     string `header:"If-Match" maxLength:"64" doc:"The ETag that the record must have, or * for any record"`
	IfNoneMatch string `header:"If-None-Match" enum:"*" doc:"With *, there must be no record yet"`
}
