package block

import (
	"context"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
)

var null = json.RawMessage("null")

// get performs get_block.
func (st *store) get(ctx context.Context, p kind.Partition, options json.RawMessage) (json.RawMessage, error) {
	p, _, err := st.open(p, options, false)
	if err != nil {
		return nil, err
	}
	r, err := p.Get(ctx, "")
	if err != nil || !r.Exists() {
		return null, err
	}
	b, err := Of(r)
	if err != nil {
		return nil, err
	}
	return json.Marshal(b)
}

// update performs update_block. The change depends on the version of the stored block. Therefore
// the stored block is added to the read set.
func (st *store) update(ctx context.Context, p kind.Partition, value, options json.RawMessage) (json.RawMessage, error) {
	p, expected, err := st.open(p, options, true)
	if err != nil {
		return nil, err
	}
	content, err := st.encode(value)
	if err != nil {
		return nil, err
	}
	if err := checkStored(ctx, p, expected); err != nil {
		return nil, err
	}
	_, err = p.Apply(ctx, "", 0, func(*storage.Record, bool) ([]byte, []abi.Violation, error) { return content, nil, nil })
	if err != nil {
		return nil, err
	}
	next, err := p.Get(ctx, "")
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Success  bool   `json:"success"`
		Revision int64  `json:"revision"`
		Updated  string `json:"updated_at"`
	}{true, next.Revision, FormatTime(time.UnixMilli(next.Revision))})
}

// delete performs delete_block.
func (st *store) delete(ctx context.Context, p kind.Partition, options json.RawMessage) (json.RawMessage, error) {
	p, expected, err := st.open(p, options, true)
	if err != nil {
		return nil, err
	}
	if err := checkStored(ctx, p, expected); err != nil {
		return nil, err
	}
	return kind.Remove(ctx, p, "", nil)
}

// open returns the partition of a call. The partition contains the blocks of the user or of the
// agent. If the call is a change, the method also reads the expected version from the arguments.
func (st *store) open(p kind.Partition, options json.RawMessage, change bool) (kind.Partition, Expected, error) {
	var expected Expected
	if kind.IsAbsent(options) {
		return p, expected, nil
	}
	ofAgent, revision := false, (*int64)(nil)
	known := map[string]kind.Option{"agent": kind.BoolOption(&ofAgent)}
	if change {
		known["expected_updated_at"] = timeOption(&expected.Updated)
		known["if_revision"] = kind.RevisionOption(&revision)
	}
	if err := kind.ReadOptions(options, known); err != nil {
		return nil, expected, err
	}
	if revision != nil {
		if !expected.Updated.IsZero() {
			return nil, expected, abi.Faultf(abi.InvalidArgument, "the options name the expected version twice").
				WithHint("use either `expected_updated_at` or `if_revision`")
		}
		expected.Revision = *revision
	}
	if !ofAgent {
		return p, expected, nil
	}
	own, err := p.(kind.AgentPartition).ForAgent()
	return own, expected, err
}

// timeOption returns an Option whose value is a time.
func timeOption(to *time.Time) kind.Option {
	return func(v any) string {
		text, _ := v.(string)
		t, ok := ParseTime(text)
		if *to = t; !ok || t.IsZero() {
			return "the updated_at of a block, such as 2026-04-30T16:20:00.000Z, or null if the block must not exist"
		}
		return ""
	}
}

// checkStored returns a conflict if the stored block differs from the expected version.
func checkStored(ctx context.Context, p kind.Partition, expected Expected) error {
	r, err := p.Get(ctx, "")
	if err != nil {
		return err
	}
	return expected.check(r.Revision)
}

// encode encodes the text in an argument as the content of a record.
func (st *store) encode(value json.RawMessage) ([]byte, error) {
	if kind.IsAbsent(value) {
		return nil, abi.Faultf(abi.InvalidArgument, "the content of a block is missing or null").
			WithHint("use `delete_block` to remove the block")
	}
	if err := st.limits.Check(value); err != nil {
		return nil, err
	}
	decoded, err := kind.Decode(value)
	content, ok := decoded.(string)
	if err != nil || !ok {
		return nil, abi.Faultf(abi.InvalidArgument, "the content of a block must be a string")
	}
	if err := st.check(content); err != nil {
		return nil, err
	}
	return st.limits.Encode(content)
}

// check returns a fault if a text exceeds the limits of the block.
func (st *store) check(content string) error {
	if n := utf8.RuneCountInString(content); n > st.block.Characters {
		return abi.Faultf(abi.TooLarge, "the block %s would have %d characters; the limit is %d", st.block.Name, n, st.block.Characters).
			WithHint("shorten the text; the previous text is still stored")
	}
	if st.block.Entries == 0 {
		return nil
	}
	if n := CountEntries(content); n > st.block.Entries {
		return abi.Faultf(abi.TooLarge, "the block %s would have %d entries; the limit is %d", st.block.Name, n, st.block.Entries).
			WithHint("merge or remove entries; each line that is not blank is an entry")
	}
	return nil
}
