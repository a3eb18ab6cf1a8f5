package memory

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
)

// metaContent is the content of the store sessionMeta, as tool code reads it. The three members of
// sessionMeta are always present, so a tool does not need to check their existence.
type metaContent struct {
	Metadata  json.RawMessage  `json:"metadata"`
	Info      sessionInfo      `json:"sessionInfo"`
	Artifacts []artifact.Shown `json:"artifacts"`
}

// sessionInfo describes the session. A member whose value the host does not know is null.
type sessionInfo struct {
	SessionID        *string `json:"sessionId"`
	AppID            string  `json:"appId"`
	SessionReference *string `json:"sessionReference"`
	UserReference    *string `json:"userReference"`
	UserID           *string `json:"userId"`
	RunID            string  `json:"runId"`
	Timestamp        *string `json:"timestamp"`
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// metaPartition is the partition of sessionMeta. It contains one document. At each read, the host
// generates the document from the record of the session.
type metaPartition struct{ *storePartition }

// Get implements kind.Partition. The document has no creation time.
func (m metaPartition) Get(ctx context.Context, _ string) (storage.Record, error) {
	var behind storage.Record // remains the zero Record if the caller has no session
	if m.key != "" {
		r, err := m.view.tx.Get(ctx, m.key)
		if err != nil {
			return storage.Record{}, err
		}
		behind = r
	}
	content, err := m.view.metaContent(ctx, behind)
	return storage.Record{Content: content, Revision: 1}, err
}

// errMadeByHost is the fault of a write to a document that the host generates. The View rejects
// writes to sessionMeta, so no write reaches the partition.
var errMadeByHost = abi.Faultf(abi.ReadOnly, "the store %s is read-only for tools", declare.SessionMeta)

// Scan implements kind.Partition.
func (m metaPartition) Scan(context.Context, string, int) ([]storage.Record, error) {
	return nil, errMadeByHost
}

// CheckWrite implements kind.Partition.
func (m metaPartition) CheckWrite(time.Duration) error { return errMadeByHost }

// Apply implements kind.Partition.
func (m metaPartition) Apply(context.Context, string, time.Duration, kind.Update) (time.Time, error) {
	return time.Time{}, errMadeByHost
}

// Delete implements kind.Partition.
func (m metaPartition) Delete(context.Context, string) error { return errMadeByHost }

// metaContent generates sessionMeta from the session record that the attempt has read. If the
// caller has no session, metaContent uses the metadata that the run received.
func (v *View) metaContent(ctx context.Context, r storage.Record) (json.RawMessage, error) {
	state := v.run.anonymous
	if v.caller.Session != "" {
		stored, err := session.Decode(r)
		if err == nil && v.run.tx.DryRun {
			stored, err = v.s.sessions.Preview(stored, v.run.tx.Session)
		}
		if err != nil {
			return nil, err
		}
		state = stored
	}
	if len(state.Metadata) == 0 {
		state.Metadata = json.RawMessage("{}")
	}
	files, err := v.s.artifacts.Show(ctx, v.caller, state.Files, v.Now())
	if err != nil {
		return nil, err
	}
	return json.Marshal(metaContent{
		Metadata: state.Metadata,
		Info: sessionInfo{
			SessionID: optional(v.caller.Session), AppID: string(v.s.app), UserID: optional(v.caller.User),
			SessionReference: optional(state.Reference), UserReference: optional(state.UserReference),
			RunID: v.caller.Run, Timestamp: kind.FormatTime(state.Started),
		},
		Artifacts: files,
	})
}
