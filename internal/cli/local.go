package cli

import (
	"context"
	"encoding/json"
	"io"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// local is an app that is open in this process.
type local struct{ host *host.Host }

// Run runs a tool.
func (l local) Run(ctx context.Context, inv host.Invocation) (*report.Result, error) {
	return l.host.Run(ctx, inv)
}

// Render renders a prompt of the app.
func (l local) Render(ctx context.Context, c host.Caller, prompt string) (string, error) {
	return l.host.Render(ctx, c, prompt)
}

// RenderText renders any template.
func (l local) RenderText(ctx context.Context, c host.Caller, text string) (string, error) {
	return l.host.RenderText(ctx, c, text)
}

// StartSession starts a session, or changes one that is open.
func (l local) StartSession(ctx context.Context, c host.Caller, start session.Start) (session.Session, error) {
	return l.host.Sessions().Start(ctx, c, start)
}

// EndSession ends the caller's session.
func (l local) EndSession(ctx context.Context, c host.Caller) (session.Session, error) {
	return l.host.Sessions().End(ctx, c)
}

// Session describes the caller's session.
func (l local) Session(ctx context.Context, c host.Caller) (session.Session, error) {
	return l.host.Sessions().Get(ctx, c)
}

// Sessions returns a page of sessions after an id.
func (l local) Sessions(ctx context.Context, c host.Caller, after string, limit int) (found []session.Session, next string, err error) {
	return l.host.Sessions().List(ctx, c, after, limit)
}

// List returns a page of the records of a store.
func (l local) List(ctx context.Context, c host.Caller, store, after string, limit int) (found []memory.RecordInfo, next string, err error) {
	return l.host.Stores().List(ctx, c, store, after, limit)
}

// Purge removes all records of a store.
func (l local) Purge(ctx context.Context, c host.Caller, store string) (int, error) {
	return l.host.Stores().Purge(ctx, c, store)
}

// Erase removes everything of the caller's user.
func (l local) Erase(ctx context.Context, c host.Caller) (memory.Erased, error) {
	return l.host.Users().Erase(ctx, c)
}

// ExportUser writes all data of the caller's user as a ZIP archive.
func (l local) ExportUser(ctx context.Context, c host.Caller, w io.Writer) error {
	return l.host.Users().Export(ctx, c, w)
}

// Ledger returns a page of the ledger.
func (l local) Ledger(ctx context.Context, c host.Caller, q ledger.Query) (found []ledger.Entry, next string, more bool, err error) {
	return l.host.Ledger().Entries(ctx, c, q)
}

// Get performs get_content.
func (l local) Get(ctx context.Context, c host.Caller, store string, projection json.RawMessage, record bool) (json.RawMessage, error) {
	return l.perform(ctx, c, abi.GetContent, store, projection, map[string]bool{"record": record})
}

// Set performs set_content. The reply to a merge leaves the revision open, for others may write before it is stored; but
// while this process has the database open nobody does, so the record itself tells.
func (l local) Set(ctx context.Context, c host.Caller, store string, content json.RawMessage, opts writeOptions) (json.RawMessage, error) {
	_, effects, err := l.operate(ctx, c, abi.SetContent, store, content, opts)
	if err != nil {
		return nil, err
	}
	text, err := l.Get(ctx, c, store, nil, true)
	if err != nil || len(effects.Violations()) == 0 {
		return text, err
	}
	var record map[string]json.RawMessage
	if err := json.Unmarshal(text, &record); err != nil {
		return nil, err
	}
	if record["violations"], err = json.Marshal(effects.Violations()); err != nil {
		return nil, err
	}
	return json.Marshal(record)
}

// Delete performs delete_content, which has its options in the second place.
func (l local) Delete(ctx context.Context, c host.Caller, store string, opts writeOptions) (json.RawMessage, error) {
	return l.perform(ctx, c, abi.DeleteContent, store, opts)
}

// perform executes an operation. A nil json.RawMessage is an argument that is absent.
func (l local) perform(ctx context.Context, c host.Caller, op, store string, args ...any) (json.RawMessage, error) {
	reply, _, err := l.operate(ctx, c, op, store, args...)
	return reply, err
}

// operate is perform that also returns what was read and written.
func (l local) operate(ctx context.Context, c host.Caller, op, store string, args ...any) (json.RawMessage, report.Effects, error) {
	call := abi.Call{Op: op}
	for _, arg := range append([]any{store}, args...) {
		text, given := arg.(json.RawMessage)
		if !given {
			var err error
			if text, err = strictjson.Encode(arg); err != nil {
				return nil, report.Effects{}, err
			}
		}
		call.Args = append(call.Args, text)
	}
	return l.host.Stores().Do(ctx, c, memory.Operator(), call)
}
