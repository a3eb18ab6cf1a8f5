package kind

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// CheckRevision returns a fault if the record with a given item does not have the required
// revision. CheckRevision adds the record to the read set. Nil means any revision.
func CheckRevision(ctx context.Context, p Partition, item string, required *int64) error {
	if required == nil {
		return nil
	}
	r, err := p.Get(ctx, item)
	if err != nil {
		return err
	}
	if r.Revision != *required {
		return abi.Faultf(abi.Conflict, "the record has revision %d, not %d", r.Revision, *required).
			WithHint("read the record again with the option \"record\", then retry")
	}
	return nil
}

// WriteReply returns the reply to a write of the record with a given item. If the record is not in
// the read set, the reply contains no values that depend on the stored record.
func WriteReply(ctx context.Context, p Partition, item string, expires time.Time) (json.RawMessage, error) {
	reply := struct {
		Success  bool    `json:"success"`
		Revision *int64  `json:"revision"`
		Updated  *string `json:"updated_at"`
		Expires  *string `json:"expires_at"`
	}{Success: true, Expires: FormatTime(expires)}
	if p.Holds(item) {
		next, err := p.Get(ctx, item)
		if err != nil {
			return nil, err
		}
		revision := next.Revision // the copy of the number avoids a heap allocation of the record
		reply.Revision, reply.Updated = &revision, FormatTime(next.Updated)
	}
	return json.Marshal(reply)
}

// Remove deletes the record with a given item and returns the reply. The reply reports whether the
// record existed. Therefore Remove adds the record to the read set. If the argument "required" is
// not nil, the record must have this revision.
func Remove(ctx context.Context, p Partition, item string, required *int64) (json.RawMessage, error) {
	before, err := p.Get(ctx, item)
	if err != nil {
		return nil, err
	}
	if err := CheckRevision(ctx, p, item, required); err != nil {
		return nil, err
	}
	if before.Exists() {
		if err := p.Delete(ctx, item); err != nil {
			return nil, err
		}
	}
	return json.RawMessage(fmt.Sprintf(`{"success":true,"deleted":%t}`, before.Exists())), nil
}
