package cli

import (
	"context"
	"encoding/json"
	"io"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/metering"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
)

// appBackend gives commands access to an app. The app is either open in this process or at a
// server.
type appBackend struct {
	runs        runBackend
	prompts     promptBackend
	sessions    sessionBackend
	workflows   workflowBackend
	records     recordBackend
	facts       factBackend
	blocks      blockBackend
	collections collectionBackend
	agents      agentBackend
	users       userBackend
	sleep       sleepBackend
	ledger      ledgerBackend
	usage       usageBackend
	approvals   approvalBackend
}

// runBackend runs tools.
type runBackend interface {
	Run(context.Context, host.Invocation) (*report.Result, error)
}

// promptBackend renders declared prompts and arbitrary templates.
type promptBackend interface {
	RenderPrompt(ctx context.Context, r host.PromptRequest) (host.Rendered, error)
	RenderTemplate(ctx context.Context, r host.PromptRequest, text string) (host.Rendered, error)
}

// sessionBackend manages sessions. Start, End and Get operate on the session of the caller.
type sessionBackend interface {
	// Start starts a session, or changes an open session.
	Start(context.Context, host.Caller, session.Start) (session.Session, error)
	End(context.Context, host.Caller) (session.Session, error)
	Get(context.Context, host.Caller) (session.Session, error)
	// List returns a page of sessions. The page begins after the id in the argument "after". The
	// result "next" is the last id of the page. On the last page, "next" is "".
	List(ctx context.Context, c host.Caller, after string, limit int) (found []session.Session, next string, err error)
}

// workflowBackend manages workflows. End and Get operate on the workflow of the caller.
type workflowBackend interface {
	End(context.Context, host.Caller) (session.Workflow, error)
	Get(context.Context, host.Caller) (session.Workflow, error)
	// List is like sessionBackend.List.
	List(ctx context.Context, c host.Caller, after string, limit int) (found []session.Workflow, next string, err error)
}

// recordBackend reads and writes the records of stores.
type recordBackend interface {
	// Get returns the part of a record that a projection selects. A nil projection selects all
	// fields. If the argument "record" is true, the result also contains the revision and the
	// times. If the record does not exist, the result is null.
	Get(ctx context.Context, c host.Caller, store string, projection json.RawMessage, record bool) (json.RawMessage, error)
	// Set writes a record. Set returns the stored record with its revision and its times. If the
	// store is not strict, the result also contains schema violations.
	Set(ctx context.Context, c host.Caller, store string, content json.RawMessage, opts writeOptions) (json.RawMessage, error)
	// Delete deletes a record. Delete returns a reply with the format of the memory operation
	// delete_content.
	Delete(ctx context.Context, c host.Caller, store string, opts writeOptions) (json.RawMessage, error)
	// List returns a page of records. The page begins after the key in the argument "after". The
	// result "next" is "" on the last page.
	List(ctx context.Context, c host.Caller, store, after string, limit int) (found []memory.RecordInfo, next string, err error)
	// Purge removes all records of a store and returns the number of removed records.
	Purge(ctx context.Context, c host.Caller, store string) (int, error)
}

// userBackend erases and exports all data of the caller's user.
type userBackend interface {
	Erase(context.Context, host.Caller) (memory.Erased, error)
	// Export writes the data as a ZIP archive.
	Export(ctx context.Context, c host.Caller, w io.Writer) error
}

// ledgerBackend reads the ledger.
type ledgerBackend interface {
	// Entries returns a page of the ledger. The oldest entry comes first. The result "more" is true
	// if there may be a next page. The next page starts after the id "next".
	Entries(ctx context.Context, c host.Caller, q ledger.Query) (found []ledger.Entry, next string, more bool, err error)
}

// sleepBackend shows, pauses, resumes and retries sleep-time memory.
type sleepBackend interface {
	Status(context.Context, host.Caller) (host.SleepStatus, error)
	Pause(context.Context, host.Caller) error
	Resume(context.Context, host.Caller) error
	Retry(context.Context, host.Caller) error
}

// usageBackend reads the usage of apps.
type usageBackend interface {
	// List returns a page of at most maxUsage apps. The result "next" is "" on the last page.
	List(ctx context.Context, c host.Caller, q metering.Query) (found []metering.Usage, next string, err error)
}

var (
	_ runBackend      = (*host.Host)(nil)
	_ promptBackend   = (*host.Host)(nil)
	_ sessionBackend  = host.Sessions{}
	_ workflowBackend = host.Workflows{}
	_ userBackend     = host.Users{}
	_ ledgerBackend   = (*host.Ledger)(nil)
	_ recordBackend   = localRecords{}
	_ sleepBackend    = host.Sleep{}
	_ usageBackend    = localUsage{}
)

// writeOptions contains the options of a write. The zero value of writeOptions means that the write
// merges the content into the existing record.
type writeOptions struct {
	Replace    bool   `json:"replace,omitempty"`
	IfRevision *int64 `json:"if_revision,omitempty"`
	TTL        string `json:"ttl,omitempty"`
}
