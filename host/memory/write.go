package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/strictjson"
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
	if err := v.prepare(ctx, e, opts, len(value)); err != nil {
		return nil, err
	}
	w := write{replace: opts.replace, value: value, ttl: opts.ttl}
	next, err := v.s.apply(e.store, e.draft, w)
	if err == nil {
		err = v.checkQuota(ctx, e, next)
	}
	if err == nil {
		err = v.lookAbove(ctx, e)
	}
	if err != nil {
		return nil, v.tell(ctx, e, err)
	}
	if err := v.record(e, w, next); err != nil {
		return nil, err
	}
	return v.setReply(e)
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
	if v.endsWithSession(st) && v.caller.Session == "" {
		return noSession(st, v.authority.holder())
	}
	if limit := st.Retention.For; limit > 0 && opts.ttl > limit {
		return abi.Faultf(abi.InvalidArgument, "the ttl is longer than the store's retention of %s, which it may only shorten", st.Retention)
	}
	return nil
}

func (v *View) endsWithSession(st *store) bool {
	return st.Access == declare.ScopeSession || st.Retention.Session
}

// maxBlind is how many blind writes to one record are kept for the commit, which may have to apply them again.
const maxBlind = 16

// maxBlindBytes is how much of blind writes to one record is kept for the commit, or one write where a record may have
// more.
const maxBlindBytes = 1 << 20

// prepare loads the record for a write of so many bytes and checks if_revision. Where more than maxBlind writes or
// maxBlindBytes would have to be kept, the attempt depends on the record from now on, and nothing needs to be.
func (v *View) prepare(ctx context.Context, e *entry, opts options, size int) error {
	much := len(e.blind) == maxBlind || e.blindBytes+size > max(maxBlindBytes, v.s.limits.RecordBytes)
	if err := v.load(ctx, e, opts.ifRevision != nil || much); err != nil {
		return err
	}
	if opts.ifRevision == nil {
		return nil
	}
	if err := v.lookAbove(ctx, e); err != nil {
		return err
	}
	if current := v.next(e).Revision; current != *opts.ifRevision {
		return abi.Faultf(abi.Conflict, "the record has revision %d, not %d", current, *opts.ifRevision).
			WithHint("read it again with the option \"record\" and decide anew")
	}
	return nil
}

// tell lets the guest see a fault that depends on what is stored, which makes the attempt depend on it too.
func (v *View) tell(ctx context.Context, e *entry, fault error) error {
	if err := v.load(ctx, e, true); err != nil {
		return err
	}
	return fault
}

// record adds a write to the attempt.
func (v *View) record(e *entry, w write, next draft) error {
	if e.generation == "" {
		generation, err := v.s.newGeneration()
		if err != nil {
			return err
		}
		e.generation = generation
	}
	e.wrote, e.draft = true, next
	if !e.read {
		w.value = bytes.Clone(w.value) // it is the engine's
		e.blind, e.blindBytes = append(e.blind, w), e.blindBytes+len(w.value)
	}
	return nil
}

// setReply says what a write came to. Of a blind one only what does not depend on the record is told.
func (v *View) setReply(e *entry) (json.RawMessage, error) {
	reply := struct {
		Success  bool    `json:"success"`
		Revision *int64  `json:"revision"`
		Updated  *string `json:"updated_at"`
		Expires  *string `json:"expires_at"`
	}{Success: true, Expires: formatTime(v.expires(e.store, e.draft.ttl))}
	if e.read {
		next := v.next(e)
		reply.Revision, reply.Updated = &next.Revision, formatTime(next.Updated)
	}
	return json.Marshal(reply)
}

// delete performs delete_content. Its reply tells whether there was a record, so it always depends on it.
func (v *View) delete(ctx context.Context, e *entry, call abi.Call) (json.RawMessage, error) {
	opts, err := parseOptions(call.Arg(1), "if_revision")
	if err != nil {
		return nil, err
	}
	if err := v.load(ctx, e, true); err != nil {
		return nil, err
	}
	if err := v.prepare(ctx, e, opts, 0); err != nil {
		return nil, err
	}
	existed := e.draft.exists
	if existed {
		if err := v.record(e, write{remove: true}, draft{}); err != nil {
			return nil, err
		}
	}
	return json.RawMessage(fmt.Sprintf(`{"success":true,"deleted":%t}`, existed)), nil
}

// lookAbove finds out above which revision the record begins, if the attempt depends on that it creates it: before
// the guest learns the revision.
func (v *View) lookAbove(ctx context.Context, e *entry) error {
	if e.base.Exists() || !e.read || e.begins {
		return nil
	}
	e.begins = true
	snap, err := v.look(ctx)
	if err != nil {
		return err
	}
	e.above = aboveIn(snap, e)
	return v.verify(snap, v.entries)
}

// aboveIn is the revision above which an entry's record would begin: that of the record whose lifetime has ended,
// or of one that was removed.
func aboveIn(snap snapshot, e *entry) int64 {
	raw, _ := snap.record(e.key)
	floor, _ := snap.record(storage.FloorKey(e.key))
	return max(raw.Revision, floor.Revision)
}

// next returns the record as it will be if the attempt commits, without its content; a zero Record where there
// will be none.
func (v *View) next(e *entry) storage.Record {
	return v.nextOn(e, e.base, e.draft, e.above)
}

// nextOn is next for another base and what the writes made of it; above is the revision above which a record
// begins that was not there.
func (v *View) nextOn(e *entry, base storage.Record, d draft, above int64) storage.Record {
	if !d.exists {
		return storage.Record{}
	}
	if !e.wrote {
		return base
	}
	next := storage.Record{
		Key: e.key, Revision: max(base.Revision, above) + 1, Generation: base.Generation,
		Created: base.Created, Updated: v.now, Expires: v.expires(e.store, d.ttl), Run: v.caller.Run,
	}
	if d.fresh {
		next.Generation, next.Created = e.generation, v.now
	}
	if base.Exists() && !next.Updated.After(base.Updated) {
		next.Updated = base.Updated.Add(time.Microsecond) // strictly increasing, whatever clocks do
	}
	next.Tags = v.ends(e.store)
	return next
}

// ends are the tags of a record of the store that the attempt writes: the session with which it ends, and the
// user it belongs to if its key does not name one.
func (v *View) ends(st *store) (tags []string) {
	if v.endsWithSession(st) {
		tags = append(tags, endTag(v.s.sessionKey(v.caller)))
	}
	if st.Access == declare.ScopeSession {
		tags = append(tags, storage.SubjectTag(v.caller.subject()))
	}
	return tags
}

// expires returns when a record written now expires; zero for never.
func (v *View) expires(st *store, ttl time.Duration) time.Time {
	switch {
	case ttl > 0:
		return v.now.Add(ttl)
	case st.Retention.For > 0:
		return v.now.Add(st.Retention.For)
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
