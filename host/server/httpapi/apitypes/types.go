package apitypes

import (
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
)

// What package memory describes is written down here once more, for clients that take in no memory: a test holds the
// two together.

// Session is a session.Session.
type Session struct {
	ID string `json:"session_id"`
	// User is "" while the session is anonymous, and once its user was erased.
	User          string `json:"user_id,omitempty"`
	Reference     string `json:"session_reference,omitempty"`
	UserReference string `json:"user_reference,omitempty"`
	// Metadata is a JSON object; it is empty for who may not change it.
	Metadata json.RawMessage `json:"metadata"`
	Started  time.Time       `json:"started"`
	Used     time.Time       `json:"used"`
	// Ended is nil while the session is open.
	Ended *time.Time `json:"ended,omitempty"`
}

// StartedSession is a session that was started, with what came of its message.
type StartedSession struct {
	Session
	// Result is nil if there was no message.
	Result *report.Result `json:"result,omitempty"`
}

// Artifact is a artifact.Artifact, a file that was uploaded, with the API's spelling of its names. Tools read it in
// sessionMeta.artifacts, in another.
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
	// TextReason says why the file has no text: unsupported_format, disabled, no_text, encrypted, damaged, too_complex or
	// unknown_encoding.
	TextReason string `json:"text_reason,omitempty"`
}

// File is an uploaded file, and where it can be downloaded.
type File struct {
	Artifact
	// URL is where the file can be downloaded without credentials until it expires, "" where links are not given.
	URL string `json:"download_url,omitempty" doc:"Where the file can be downloaded without credentials until it expires"`
}

// Listed is a memory.RecordInfo: a record without its content.
type Listed struct {
	Store    string     `json:"store"`
	Item     string     `json:"item,omitempty"`
	User     string     `json:"user_id,omitempty"`
	Session  string     `json:"session_id,omitempty"`
	Revision int64      `json:"revision"`
	Bytes    int        `json:"bytes"`
	Created  time.Time  `json:"created"`
	Updated  time.Time  `json:"updated_at"`
	Expires  *time.Time `json:"expires_at,omitempty"`
}

// LedgerEntry is a ledger.Entry: what a run, or an act of an operator, read and wrote.
type LedgerEntry struct {
	Run string `json:"run_id"`
	// Act is what it was: run, dry_run, render; of operators operate, list, purge, erase, declare, export, import, download, export_user.
	Act  string `json:"act"`
	Tool string `json:"tool,omitempty"`
	// File is the id of the file that was downloaded.
	File    string    `json:"file_id,omitempty"`
	Actor   string    `json:"actor,omitempty"`
	User    string    `json:"user_id,omitempty"`
	Session string    `json:"session_id,omitempty"`
	At      time.Time `json:"at"`
	// Code is that of the fault that it ended with; "" where it succeeded.
	Code     abi.Code             `json:"code,omitempty"`
	Attempts int                  `json:"attempts"`
	Reads    []report.ReadEffect  `json:"reads"`
	Writes   []report.WriteEffect `json:"writes"`
	// More counts reads and writes that the entry leaves out, because there are too many.
	More int `json:"more,omitempty"`
}

// Erased is a memory.Erased: what an erasure removed.
type Erased struct {
	User string `json:"user_id"`
	// Stores counts the records removed from each store; Records and Bytes are the sums.
	Stores   map[string]int `json:"stores"`
	Records  int            `json:"records"`
	Bytes    int64          `json:"bytes"`
	Sessions int            `json:"sessions"`
	Runs     int            `json:"runs"`
	Files    int            `json:"files"`
	Entries  int            `json:"ledger_entries"`
}

// AppUsage is a metering.Usage: the usage of an app in a tenant.
type AppUsage struct {
	Tenant string `json:"tenant"`
	App    string `json:"app"`
	// StoredBytes and StoredRecords are what is stored now, as the quota counts it.
	StoredBytes   int64 `json:"stored_bytes"`
	StoredRecords int64 `json:"stored_records"`
	// Runs counts runs whose tool was executed in the days that were asked for, Failed those of them that ended with a fault.
	Runs   int64 `json:"runs"`
	Failed int64 `json:"failed"`
	// Repeated counts answers with an earlier run's Result, Refused and NotStarted runs that no tool was executed for.
	Repeated   int64 `json:"repeated"`
	Refused    int64 `json:"refused"`
	NotStarted int64 `json:"not_started"`
	// CPUMS is the processor time of tools in milliseconds.
	CPUMS float64 `json:"cpu_ms"`
}
