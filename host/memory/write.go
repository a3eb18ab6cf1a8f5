package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

// set performs set_content. A merge into a record that the attempt has not read stays blind: its reply tells
// nothing about stored state, so that it need not conflict, and it is applied to the latest content at commit.
func (v *View) set(ctx context.Context, e *entry, call abi.Call) (json.RawMessage, error) {
	opts, err := parseOptions(call.Arg(2), "replace", "if_revision", "ttl")
	if err != nil {
		return nil, err
	}
	value := call.Arg(1)
	if err := v.writable(e.store, value, opts); err != nil {
		return nil, err
	}
	if err := v.checkRevision(ctx, e, opts); err != nil {
		return nil, err
	}
	if !v.tx.Holds(e.key) {
		value = bytes.Clone(value) // the commit may need it, and it is the engine's
	}
	if err := v.write(ctx, e, write{replace: opts.replace, value: value, ttl: opts.ttl}); err != nil {
		return nil, err
	}
	return v.setReply(ctx, e, opts.ttl)
}

// write applies a write to the record of an entry. A fault leaves the attempt as it was; as it shows what is stored, the
// attempt then depends on the record.
func (v *View) write(ctx context.Context, e *entry, w write) error {
	if err := v.readUsage(ctx); err != nil {
		return err
	}
	err := v.tx.Apply(ctx, e.key, v.update(e, w))
	if !errors.Is(err, txn.ErrUndecided) {
		return err
	}
	if err := v.reclaim(ctx); err != nil {
		return err
	}
	return v.tx.Apply(ctx, e.key, v.update(e, w))
}

// update is what a write does to a record.
func (v *View) update(e *entry, w write) txn.Update {
	committing := false // only the first applications are those of the call
	return func(old storage.Record, locked bool) (storage.Record, any, error) {
		st := e.store
		if locked {
			st = st.cheap()
		}
		if locked && st.schema != nil && (w.replace || !old.Exists()) {
			return old, nil, errDear // the defaults of a schema are not bounded by steps
		}
		d, err := v.s.apply(st, draftOf(old), w)
		if err != nil {
			return old, nil, err
		}
		if locked && slices.ContainsFunc(d.violations, func(v abi.Violation) bool { return v.Keyword == schema.MaxWork }) {
			return old, nil, errDear
		}
		if committing = committing || v.over != nil; !committing && d.exists {
			if err := v.checkQuota(e, d); err != nil && v.mayReclaim() {
				return old, nil, txn.ErrUndecided
			} else if err != nil {
				return old, nil, err
			}
		}
		if !d.exists {
			return storage.Record{}, nil, nil
		}
		return storage.Record{Content: d.bytes, Expires: v.expires(e.store, w.ttl), Tags: v.tags(e)}, d.violations, nil
	}
}

// errDear refuses an update inside the backend's transaction, where others wait.
var errDear = errors.New("the update takes too long inside the backend's transaction")

// lockedWork is how many steps of a schema one update inside the backend's transaction may take.
const lockedWork = 2_000

// cheap is the store with few steps for its schema.
func (st *store) cheap() *store {
	if st.schema == nil {
		return st
	}
	bounded := *st
	bounded.schema = st.schema.Within(lockedWork)
	return &bounded
}

// writable checks of what set_content is given what can be checked without the record.
func (v *View) writable(st *store, text json.RawMessage, opts options) error {
	if isAbsent(text) {
		return abi.Faultf(abi.InvalidArgument, "there is no content to store: it is missing or null").
			WithHint("delete_content removes a record")
	}
	if err := v.s.checkValue(text); err != nil {
		return err
	}
	if !strictjson.IsObject(text) && !st.anyRoot {
		return abi.Faultf(abi.InvalidArgument, "the content must be an object").
			WithHint("a schema with another type at its root allows other contents")
	}
	if st.endsWithSession() && v.caller.Session == "" {
		return noSession(st, v.authority.holder())
	}
	if limit := st.Retention.For; limit > 0 && opts.ttl > limit {
		return abi.Faultf(abi.InvalidArgument, "the ttl is longer than the store's retention of %s, which it may only shorten", st.Retention)
	}
	return nil
}

func (st *store) endsWithSession() bool {
	return st.Access == declare.ScopeSession || st.Retention.Session
}

// checkRevision checks the option if_revision, with which the attempt depends on the record.
func (v *View) checkRevision(ctx context.Context, e *entry, opts options) error {
	if opts.ifRevision == nil {
		return nil
	}
	r, err := v.tx.Get(ctx, e.key)
	if err != nil {
		return err
	}
	if r.Revision != *opts.ifRevision {
		return abi.Faultf(abi.Conflict, "the record has revision %d, not %d", r.Revision, *opts.ifRevision).
			WithHint("read it again with the option \"record\" and decide anew")
	}
	return nil
}

// setReply reports what a write came to. Of a blind one it reports only what does not depend on the record.
func (v *View) setReply(ctx context.Context, e *entry, ttl time.Duration) (json.RawMessage, error) {
	reply := struct {
		Success  bool    `json:"success"`
		Revision *int64  `json:"revision"`
		Updated  *string `json:"updated_at"`
		Expires  *string `json:"expires_at"`
	}{Success: true, Expires: formatTime(v.expires(e.store, ttl))}
	if v.tx.Holds(e.key) {
		next, err := v.tx.Get(ctx, e.key)
		if err != nil {
			return nil, err
		}
		reply.Revision, reply.Updated = &next.Revision, formatTime(next.Updated)
	}
	return json.Marshal(reply)
}

// delete performs delete_content. Its reply reports whether there was a record, so it always depends on it.
func (v *View) delete(ctx context.Context, e *entry, call abi.Call) (json.RawMessage, error) {
	opts, err := parseOptions(call.Arg(1), "if_revision")
	if err != nil {
		return nil, err
	}
	before, err := v.tx.Get(ctx, e.key)
	if err != nil {
		return nil, err
	}
	if err := v.checkRevision(ctx, e, opts); err != nil {
		return nil, err
	}
	if before.Exists() {
		if err := v.tx.Apply(ctx, e.key, v.update(e, write{remove: true})); err != nil {
			return nil, err
		}
	}
	return json.RawMessage(fmt.Sprintf(`{"success":true,"deleted":%t}`, before.Exists())), nil
}

// tags returns the tags of an entry's record as the attempt writes it.
func (v *View) tags(e *entry) []string {
	session := ""
	if e.store.endsWithSession() {
		session = v.caller.Session
	}
	return partition.Tags(e.key, v.caller, session)
}

// expires returns when a record written now expires; zero for never.
func (v *View) expires(st *store, ttl time.Duration) time.Time {
	switch {
	case ttl > 0:
		return v.Now().Add(ttl)
	case st.Retention.For > 0:
		return v.Now().Add(st.Retention.For)
	}
	return time.Time{}
}

// shownEnd is endOf as people see it: zero for never.
func (s *Service) shownEnd(st *store, r storage.Record) time.Time {
	if end := s.endOf(st, r); end != never {
		return end
	}
	return time.Time{}
}
