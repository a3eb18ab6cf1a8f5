package document

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/strictjson"
)

var null = json.RawMessage("null")

// get performs get_content. If the record exists, the result is the content or a projection of the
// content. If the record does not exist, the result is null.
func (st *store) get(ctx context.Context, p kind.Partition, call abi.Call) (json.RawMessage, error) {
	wanted, err := parseProjection(call.Arg(1))
	if err != nil {
		return nil, err
	}
	opts, err := parseOptions(call.Arg(2), "record")
	if err != nil {
		return nil, err
	}
	r, err := p.Get(ctx, "")
	if err != nil {
		return nil, err
	}
	if !r.Exists() {
		return null, nil
	}
	content := json.RawMessage(r.Content)
	if wanted != nil {
		if content, err = project(content, wanted); err != nil {
			return nil, err
		}
	}
	if !opts.record {
		return content, nil
	}
	return st.recordReply(r, content)
}

func project(content json.RawMessage, wanted *projection) (json.RawMessage, error) {
	value, err := kind.Decode(content)
	if err != nil {
		return nil, err
	}
	picked, ok := wanted.apply(value)
	if !ok {
		return null, nil
	}
	return strictjson.Encode(picked)
}

// recordReply returns a content and the metadata of its record.
func (st *store) recordReply(r storage.Record, content json.RawMessage) (json.RawMessage, error) {
	if r.Created.IsZero() {
		return nil, abi.Faultf(abi.InvalidArgument, "the store %s has no revision or times", st.decl.Name).
			WithHint("omit the option \"record\"")
	}
	return json.Marshal(struct {
		Content  json.RawMessage `json:"content"`
		Revision int64           `json:"revision"`
		Created  *string         `json:"created"`
		Updated  *string         `json:"updated_at"`
		Expires  *string         `json:"expires_at"`
	}{content, r.Revision, kind.FormatTime(r.Created), kind.FormatTime(r.Updated), kind.FormatTime(r.Expires)})
}
