package memory

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
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
	if err := v.load(ctx, e, true); err != nil {
		return nil, err
	}
	content, err := v.content(ctx, e, wanted)
	if err != nil || content == nil {
		return null, err
	}
	if !opts.record {
		return content, nil
	}
	if e.wrote {
		if err := v.lookAbove(ctx, e); err != nil {
			return nil, err
		}
	}
	return v.recordReply(e, content)
}

// content returns what the attempt sees under an entry, nil where there is nothing.
func (v *View) content(ctx context.Context, e *entry, wanted *projection) (json.RawMessage, error) {
	if e.store == nil {
		return v.metaContent(ctx, e.base, wanted)
	}
	if !e.draft.exists {
		return nil, nil
	}
	if wanted == nil {
		return e.draft.bytes, nil
	}
	value, err := e.draft.content()
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
func (v *View) recordReply(e *entry, content json.RawMessage) (json.RawMessage, error) {
	if e.store == nil {
		return nil, abi.Faultf(abi.InvalidArgument, "%s has no revision or times of its own", declare.SessionMeta).
			WithHint("read it without the option \"record\"")
	}
	next := v.next(e)
	return json.Marshal(struct {
		Content  json.RawMessage `json:"content"`
		Revision int64           `json:"revision"`
		Created  *string         `json:"created"`
		Updated  *string         `json:"updated_at"`
		Expires  *string         `json:"expires_at"`
	}{content, next.Revision, formatTime(next.Created), formatTime(next.Updated), formatTime(v.s.shownEnd(e.store, next))})
}
