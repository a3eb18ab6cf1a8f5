package memory

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
)

// metaContent is what guests read as sessionMeta. All three parts are always there, so that a tool can look into
// them without asking first.
type metaContent struct {
	Metadata  json.RawMessage  `json:"metadata"`
	Info      sessionInfo      `json:"sessionInfo"`
	Artifacts []artifact.Shown `json:"artifacts"`
}

// sessionInfo is what the host knows about the session; null for what it does not.
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

// metaEntry is the entry of the caller's session record, which sessionMeta is made of.
func (v *View) metaEntry() *entry {
	return v.entry(nil, declare.SessionMeta, v.run.sessionKey)
}

// metaContent makes sessionMeta from the session record as the attempt sees it; without a session, from what
// the run was given.
func (v *View) metaContent(ctx context.Context, r storage.Record, wanted *projection) (json.RawMessage, error) {
	state := v.run.lone
	if v.caller.Session != "" {
		stored, err := session.Decode(r)
		if err == nil && v.run.tx.Dry {
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
	text, err := json.Marshal(metaContent{
		Metadata: state.Metadata,
		Info: sessionInfo{
			SessionID: optional(v.caller.Session), AppID: string(v.s.app), UserID: optional(v.caller.User),
			SessionReference: optional(state.Reference), UserReference: optional(state.UserReference),
			RunID: v.caller.Run, Timestamp: formatTime(state.Started),
		},
		Artifacts: files,
	})
	if err != nil || wanted == nil {
		return text, err
	}
	value, err := decodeChecked(text)
	if err != nil {
		return nil, err
	}
	return project(value, wanted)
}
