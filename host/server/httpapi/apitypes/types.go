package apitypes

import (
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
)

// The types below mirror types of the packages session, memory, artifact, ledger and metering, so
// clients need not import those packages. A test checks that the types have the same fields.

// Session describes a session, and mirrors the type session.Session.
type Session struct {
	ID string `json:"session_id"`
	// User is "" if the session is anonymous or its user was erased.
	User          string `json:"user_id,omitempty"`
	Reference     string `json:"session_reference,omitempty"`
	UserReference string `json:"user_reference,omitempty"`
	// Metadata is a JSON object. In responses to callers that may not change the metadata, Metadata
	// is empty.
	Metadata json.RawMessage `json:"metadata"`
	Started  time.Time       `json:"started"`
	Used     time.Time       `json:"used"`
	// Ended is nil while the session is open.
	Ended *time.Time `json:"ended,omitempty"`
}

// Workflow describes a workflow, and mirrors the type session.Workflow.
type Workflow struct {
	ID string `json:"workflow_id"`
	// User is "" if the workflow is anonymous or its user was erased.
	User    string    `json:"user_id,omitempty"`
	Started time.Time `json:"started"`
	Used    time.Time `json:"used"`
	// Ended is nil while the workflow is open.
	Ended *time.Time `json:"ended,omitempty"`
}

// StartedSession contains a new session, and the Result of the first message of the session.
type StartedSession struct {
	Session
	// Result is nil if the request had no message.
	Result *report.Result `json:"result,omitempty"`
}

// Artifact describes an uploaded file, and mirrors the type artifact.Artifact. The JSON members are
// named as in the rest of the API. Tools read the same data in sessionMeta.artifacts under other
// names.
type Artifact struct {
	ID        string    `json:"file_id"`
	Type      string    `json:"type"`
	Filename  string    `json:"filename"`
	MediaType string    `json:"mimetype"`
	Bytes     int64     `json:"size"`
	SHA256    string    `json:"sha256"`
	Active    bool      `json:"is_active"`
	Uploaded  time.Time `json:"uploaded_at"`
	Expires   time.Time `json:"expires_at"`
	HasText   bool      `json:"has_text"`
	Truncated bool      `json:"text_truncated,omitempty"`
	// TextReason is the reason why the file has no text: unsupported_format, disabled, no_text,
	// encrypted, damaged, too_complex or unknown_encoding.
	TextReason string `json:"text_reason,omitempty"`
}

// File is an uploaded file with its download URL.
type File struct {
	Artifact
	// URL is a download URL that requires no credentials until it expires. URL is "" if links are
	// disabled.
	URL string `json:"download_url,omitempty" doc:"URL for downloading the file without credentials, until the URL expires"`
}

// RecordInfo is the metadata of a record, and mirrors the type memory.RecordInfo.
type RecordInfo struct {
	Store    string     `json:"store"`
	Item     string     `json:"item,omitempty"`
	User     string     `json:"user_id,omitempty"`
	Session  string     `json:"session_id,omitempty"`
	Workflow string     `json:"workflow_id,omitempty"`
	Revision int64      `json:"revision"`
	Bytes    int        `json:"bytes"`
	Created  time.Time  `json:"created"`
	Updated  time.Time  `json:"updated_at"`
	Expires  *time.Time `json:"expires_at,omitempty"`
}

// LedgerEntry lists the reads and writes of a run or an operator action, and mirrors the type
// ledger.Entry.
type LedgerEntry struct {
	Run string `json:"run_id"`
	// Act is the kind of entry. For runs, Act is run, dry_run, turn, evaluate or render. For
	// operator actions, Act is operate, list, purge, erase, declare, export, import, download or
	// export_user. For approvals, Act is request_approval, approve, deny or expire_approval.
	Act string `json:"act"`
	// Tool is the tool of a run, or the agent of a turn or an evaluation.
	Tool string `json:"tool,omitempty"`
	// Approval is the token of an approval. In an entry for an approval, Approval is the token of
	// this approval. In an entry for a run, Approval is the token of the last approval that the run
	// received.
	Approval string `json:"approval,omitempty"`
	// File is the id of the downloaded file.
	File    string `json:"file_id,omitempty"`
	Actor   string `json:"actor,omitempty"`
	User    string `json:"user_id,omitempty"`
	Session string `json:"session_id,omitempty"`
	// Workflow is the id of the workflow that the run belongs to.
	Workflow string    `json:"workflow_id,omitempty"`
	At       time.Time `json:"at"`
	// Code is the fault code, or "" on success.
	Code     abi.Code             `json:"code,omitempty"`
	Attempts int                  `json:"attempts"`
	Reads    []report.ReadEffect  `json:"reads"`
	Writes   []report.WriteEffect `json:"writes"`
	// Models is the usage of models. Orphaned lists the external calls of earlier attempts that the
	// last attempt did not repeat.
	Models   []report.TargetUsage  `json:"models,omitempty"`
	Orphaned []report.OrphanedCall `json:"orphaned,omitempty"`
	// More is the number of reads and writes that the entry omits to limit its size.
	More int `json:"more,omitempty"`
}

// Erased counts the data that an erasure removed, and mirrors the type memory.Erased.
type Erased struct {
	User string `json:"user_id"`
	// Stores counts the records removed from each store. Records and Bytes are totals for all
	// stores.
	Stores    map[string]int `json:"stores"`
	Records   int            `json:"records"`
	Bytes     int64          `json:"bytes"`
	Sessions  int            `json:"sessions"`
	Runs      int            `json:"runs"`
	Workflows int            `json:"workflows"`
	Files     int            `json:"files"`
	Entries   int            `json:"ledger_entries"`
	// KeptShared counts the entries that an erasure keeps, for each collection that is declared
	// with "erase: never".
	KeptShared map[string]int `json:"kept_shared"`
}

// AppUsage is the usage of an app by a tenant, and mirrors the type metering.Usage.
type AppUsage struct {
	Tenant string `json:"tenant"`
	App    string `json:"app"`
	// StoredBytes and StoredRecords are the current storage use, counted as for the quota.
	StoredBytes   int64 `json:"stored_bytes"`
	StoredRecords int64 `json:"stored_records"`
	// Runs counts the runs in the requested period whose tool was executed. Failed counts the runs
	// whose tool was executed and that ended with a fault.
	Runs   int64 `json:"runs"`
	Failed int64 `json:"failed"`
	// Repeated counts responses that returned the Result of an earlier run. Refused and NotStarted
	// count runs whose tool was not executed.
	Repeated   int64 `json:"repeated"`
	Refused    int64 `json:"refused"`
	NotStarted int64 `json:"not_started"`
	// CPUMS is the CPU time that tools used, in milliseconds.
	CPUMS float64 `json:"cpu_ms"`
	// ModelCalls counts requests to models in the requested period. InputTokens and OutputTokens
	// count the tokens of these requests and of their responses. Failed runs are included.
	ModelCalls   int64 `json:"model_calls"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
}
