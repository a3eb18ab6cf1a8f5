package memory

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/transcript"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// RecordMessages adds messages to a transcript and schedules a run. The transcript belongs to the
// session of the caller. The run becomes due when no message has been added for the time "after".
// The result is the number of added messages. Messages without text are not added. If the caller
// has no user or no session, RecordMessages stores nothing. Only the host may call RecordMessages,
// because the Authority of the View is not checked.
//
// If the transcript would exceed the quota, RecordMessages drops all older messages. If the new
// messages also exceed the quota, RecordMessages returns the fault quota_exceeded. The attempt can
// then continue, but the messages are not stored.
func RecordMessages(ctx context.Context, v *View, agent string, messages []transcript.Message, after time.Duration) (added int, err error) {
	if v.caller.User == "" || v.caller.Session == "" || len(messages) == 0 {
		return 0, nil
	}
	t, err := OpenTranscript(ctx, v, v.caller.Session)
	if err != nil {
		return 0, err
	}
	before := t.State.Last
	t.State.Append(v.Now(), agent, messages...)
	if added = int(t.State.Last - before); added == 0 {
		return 0, nil
	}
	t.expires = v.Now().Add(after + declare.TranscriptRetention)
	err = t.extend(ctx, after)
	if errors.Is(err, abi.QuotaExceeded) && t.State.Keep(added) {
		err = t.extend(ctx, after)
	}
	if err != nil {
		return 0, err
	}
	return added, nil
}

// extend stores the transcript after messages were added. If no run is scheduled, extend also
// schedules a run. If extend fails, nothing is stored.
func (t *Transcript) extend(ctx context.Context, after time.Duration) error {
	if !t.State.Due.IsZero() {
		return t.save(ctx)
	}
	err := t.schedule(ctx, t.State.SettlesAt(after), dueState{})
	if err == nil || t.view.closed != nil {
		return err
	}
	if undo := t.unschedule(ctx); undo != nil {
		return undo
	}
	t.State.Due = time.Time{}
	return err
}

// A Transcript belongs to a session. A Transcript is valid during one attempt.
type Transcript struct {
	// State is the content of the transcript.
	State transcript.State

	view    *View
	in      *storePartition
	session string
	expires time.Time
}

// OpenTranscript returns the transcript of a session. The session belongs to the user of the View.
// If no transcript is stored, OpenTranscript returns an empty transcript. OpenTranscript adds the
// record of the transcript to the read set. Only the host may call OpenTranscript, because the
// Authority of the View is not checked.
func OpenTranscript(ctx context.Context, v *View, session string) (*Transcript, error) {
	st := v.s.stores[declare.Transcripts]
	switch {
	case v.closed != nil:
		return nil, v.closed
	case st == nil:
		return nil, abi.Faultf(abi.NotFound, "the app does not store transcripts").WithHint("declare the section `sleep` in the app file")
	}
	key, err := st.key(v.s.app.Group(v.caller), v.caller, v.authority.holder())
	if err != nil {
		return nil, err
	}
	t := &Transcript{view: v, in: v.partition(st, declare.ScopeUser, key), session: session}
	r, err := t.in.Get(ctx, session)
	if err != nil {
		return nil, v.classify(ctx, err, "", declare.Transcripts)
	}
	t.expires = r.Expires
	if t.State, err = transcript.Decode(r.Content); err != nil {
		return nil, v.classify(ctx, err, "", declare.Transcripts)
	}
	return t, nil
}

// Finish removes the processed messages and the scheduled run of the transcript.
func (t *Transcript) Finish(ctx context.Context) error {
	if err := t.unschedule(ctx); err != nil {
		return err
	}
	t.State.Finish()
	if t.State.Ended {
		return t.classified(ctx, t.in.Delete(ctx, t.session))
	}
	return t.save(ctx)
}

// Move changes the time of the scheduled run.
func (t *Transcript) Move(ctx context.Context, at time.Time) error {
	state, err := t.scheduled(ctx)
	if err != nil {
		return err
	}
	state.Leased = false
	return t.schedule(ctx, at, state)
}

// save stores the transcript.
func (t *Transcript) save(ctx context.Context) error {
	content, err := json.Marshal(t.State)
	if err != nil {
		return err
	}
	ttl := time.Duration(0)
	if !t.expires.IsZero() {
		ttl = max(t.expires.Sub(t.view.Now()), time.Microsecond)
	}
	_, err = t.in.Apply(ctx, t.session, ttl, func(*storage.Record, bool) ([]byte, []abi.Violation, error) { return content, nil, nil })
	return t.classified(ctx, err)
}

// schedule stores the transcript. schedule also replaces the record that schedules the run.
func (t *Transcript) schedule(ctx context.Context, at time.Time, state dueState) error {
	if err := t.unschedule(ctx); err != nil {
		return err
	}
	t.State.Due = at.UTC().Truncate(time.Microsecond) // the precision of times in keys
	content, err := json.Marshal(state)
	if err != nil {
		return err
	}
	key := t.dueKey()
	next := storage.Record{Key: key, Content: content, Expires: t.expires, Tags: partition.Tags(key, t.view.caller, partition.Lifetime{})}
	err = t.view.tx.Apply(ctx, key, func(*storage.Record, bool) (txn.State, any, error) {
		return txn.State{Content: content, Expires: next.Expires, Tags: next.Tags}, nil, nil
	})
	if err != nil {
		return t.classified(ctx, err)
	}
	countWrite(t.view, next)
	return t.save(ctx) // checks the quota for the transcript and the scheduled run
}

// unschedule removes the record that schedules a run. If no run is scheduled, unschedule does
// nothing.
func (t *Transcript) unschedule(ctx context.Context) error {
	if t.State.Due.IsZero() {
		return nil
	}
	return t.classified(ctx, t.view.tx.Apply(ctx, t.dueKey(), func(*storage.Record, bool) (txn.State, any, error) {
		return txn.State{}, nil, nil
	}))
}

// scheduled returns the content of the record that schedules the run. scheduled adds this record to
// the read set.
func (t *Transcript) scheduled(ctx context.Context) (state dueState, err error) {
	if t.State.Due.IsZero() {
		return state, nil
	}
	r, err := t.view.tx.Get(ctx, t.dueKey())
	if err != nil || !r.Exists() {
		return state, t.classified(ctx, err)
	}
	return decodeDue(t.view.s.log, r), nil
}

func (t *Transcript) dueKey() storage.Key {
	return t.view.s.app.Due(t.view.caller, t.State.Due, t.session)
}

func (t *Transcript) classified(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return t.view.classify(ctx, err, "", declare.Transcripts)
}
