package memory

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// timeLayout is how times are told: RFC 3339 in UTC with microseconds.
const timeLayout = "2006-01-02T15:04:05.000000Z"

func formatTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(timeLayout)
	return &text
}

var null = json.RawMessage("null")

// get performs get_content: the content or what a projection picks of it; null where there is no record.
func (v *View) get(ctx context.Context, e *entry, call abi.Call) (json.RawMessage, error) {
	wanted, err := parseProjection(call.Arg(1))
	if err != nil {
		return nil, err
	}
	opts, err := parseOptions(call.Arg(2), "record")
	if err != nil {
		return nil, err
	}
	var r storage.Record // without a session, sessionMeta has no record behind it
	if e.key != "" {
		if r, err = v.tx.Get(ctx, e.key); err != nil {
			return nil, err
		}
	}
	return v.getReply(ctx, e, &r, wanted, opts.record)
}

// getReply makes the reply of a read of r.
func (v *View) getReply(ctx context.Context, e *entry, r *storage.Record, wanted *projection, record bool) (json.RawMessage, error) {
	content, err := v.content(ctx, e, r, wanted)
	if err != nil || content == nil {
		return null, err
	}
	if !record {
		return content, nil
	}
	return recordReply(v.s, e, r, content)
}

// content returns what a projection picks of a record, nil if there is nothing.
func (v *View) content(ctx context.Context, e *entry, r *storage.Record, wanted *projection) (json.RawMessage, error) {
	if e.store == nil {
		return v.metaContent(ctx, *r, wanted)
	}
	if !r.Exists() {
		return nil, nil
	}
	if wanted == nil {
		return r.Content, nil
	}
	value, err := decodeChecked(r.Content)
	if err != nil {
		return nil, err
	}
	return project(value, wanted)
}

func project(value any, wanted *projection) (json.RawMessage, error) {
	picked, ok := wanted.apply(value)
	if !ok {
		return null, nil
	}
	return strictjson.Encode(picked)
}

// recordReply wraps a content with what is known about its record.
func recordReply(s *Service, e *entry, r *storage.Record, content json.RawMessage) (json.RawMessage, error) {
	if e.store == nil {
		return nil, abi.Faultf(abi.InvalidArgument, "%s has no revision or times of its own", declare.SessionMeta).
			WithHint("read it without the option \"record\"")
	}
	return json.Marshal(struct {
		Content  json.RawMessage `json:"content"`
		Revision int64           `json:"revision"`
		Created  *string         `json:"created"`
		Updated  *string         `json:"updated_at"`
		Expires  *string         `json:"expires_at"`
	}{content, r.Revision, formatTime(r.Created), formatTime(r.Updated), formatTime(s.shownEnd(e.store, *r))})
}
