package cli

import (
	"context"
	"encoding/json"
	"io"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
)

// surface is what commands need of an app: one that is open in this process, or one of a server.
type surface interface {
	Run(context.Context, host.Invocation) (*report.Result, error)
	Render(ctx context.Context, c host.Caller, prompt string) (string, error)
	RenderText(ctx context.Context, c host.Caller, text string) (string, error)

	StartSession(context.Context, host.Caller, session.Start) (session.Session, error)
	EndSession(context.Context, host.Caller) (session.Session, error)
	Session(context.Context, host.Caller) (session.Session, error)
	Sessions(ctx context.Context, c host.Caller, after string, limit int) (found []session.Session, next string, err error)

	// Get returns what a projection picks of a record, or all where it is nil; with record, revision and times too. It is
	// null where there is no record.
	Get(ctx context.Context, c host.Caller, store string, projection json.RawMessage, record bool) (json.RawMessage, error)
	// Set writes a record and returns it, as Get does with record, and with the violations of a store that is not strict.
	Set(ctx context.Context, c host.Caller, store string, content json.RawMessage, opts writeOptions) (json.RawMessage, error)
	// Delete deletes a record and answers as delete_content does.
	Delete(ctx context.Context, c host.Caller, store string, opts writeOptions) (json.RawMessage, error)
	// Sessions and List return a page, and the after of the page that follows; "" where there is none.
	List(ctx context.Context, c host.Caller, store, after string, limit int) (found []memory.RecordInfo, next string, err error)
	Purge(ctx context.Context, c host.Caller, store string) (int, error)
	Erase(context.Context, host.Caller) (memory.Erased, error)
	// ExportUser writes all data of the caller's user as a ZIP archive.
	ExportUser(ctx context.Context, c host.Caller, w io.Writer) error
	// Ledger returns a page of what was done, oldest first. More reports that there may be others after next.
	Ledger(ctx context.Context, c host.Caller, q ledger.Query) (found []ledger.Entry, next string, more bool, err error)
}

var (
	_ surface = local{}
	_ surface = (*remote)(nil)
)

// writeOptions are those of set_content; the zero value merges into whatever is there.
type writeOptions struct {
	Replace    bool   `json:"replace,omitempty"`
	IfRevision *int64 `json:"if_revision,omitempty"`
	TTL        string `json:"ttl,omitempty"`
}
