package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn/txntest"
)

// Besides runs, a scenario contains other events. For example, a session ends or receives metadata,
// a user is erased, expired records are swept, or time passes.

func (s *scenario) addEnvironment() {
	if s.Rand.IntN(4) == 0 {
		s.advances = max(s.advances, 6)
	}
	switch s.Rand.IntN(20) {
	case 0, 1:
		s.addSessionEnd(choose(s.Rand, paletteSessions...))
	case 2:
		s.addErasure("ann")
	case 3, 4:
		s.addMetadata()
	case 5, 6:
		s.advances = max(s.advances, 6)
		s.Go("sweep", func(ctx context.Context, _ *txntest.Task) {
			if _, err := s.hosts[0].Sweep(ctx, s.tenant, 10); err != nil {
				s.troubles = append(s.troubles, "sweep: "+err.Error())
			}
		})
	}
}

// addEvents records a sequence of events. All events of the sequence happen between the same two
// moves of the scheduler.
func (s *scenario) addEvents(begin int, events ...event) {
	for i, e := range events {
		e.begin, e.end, e.after = begin, s.Step(), -1
		if i > 0 {
			e.after = len(s.others) - 1
		}
		s.others = append(s.others, e)
	}
}

func (s *scenario) addSessionEnd(session string) {
	s.Go("end "+session, func(ctx context.Context, _ *txntest.Task) {
		begin := s.Step()
		_, err := s.hosts[0].Sessions().End(ctx, partition.Caller{Tenant: s.tenant, Session: session, Run: "end"})
		s.addEvents(begin,
			event{name: "end of " + session, apply: func(w world) []world {
				if _, known := w.sessions[session]; known == errors.Is(err, abi.NotFound) || known && err != nil {
					return nil
				}
				return []world{w.endSession(session)}
			}},
			event{name: "drop of " + session, apply: func(w world) []world {
				return []world{w.remove(func(_ place, r modelRecord) bool { return r.session == session })}
			}})
	})
}

func (w world) endSession(session string) world {
	w = w.clone()
	if state, known := w.sessions[session]; known {
		state.ended, state.metadata = true, "{}"
		w.sessions[session] = state
	}
	return w
}

func (w world) remove(match func(place, modelRecord) bool) world {
	w = w.clone()
	for at, r := range w.records {
		if match(at, r) {
			delete(w.records, at)
		}
	}
	return w
}

func (s *scenario) addMetadata() {
	c := partition.Caller{Tenant: s.tenant, User: "ann", Session: "s1", Run: "meta"}
	patch := choose(s.Rand, `{"k":1}`, `{"k":null,"l":{"m":2}}`, `{"l":3}`)
	s.Go("metadata", func(ctx context.Context, _ *txntest.Task) {
		begin := s.Step()
		_, err := s.hosts[0].Sessions().Start(ctx, c, session.Start{Metadata: json.RawMessage(patch)})
		s.addEvents(begin, event{name: "metadata", apply: func(w world) []world {
			w = w.clone()
			if code := w.begin(c); (code == "") != (err == nil) || err != nil && !errors.Is(err, code) {
				return nil
			}
			if state := w.sessions[c.Session]; err == nil {
				state.metadata = text(mergePatch(parse(state.metadata), parse(patch)))
				w.sessions[c.Session] = state
			}
			return []world{w}
		}})
	})
}

// addErasure erases a user. An erasure is not a transaction. First, the erasure marks the user, so
// that concurrent runs of the user store nothing. After the mark, the erasure removes records in
// several steps. Other runs can execute between these steps, so each step is an event.
func (s *scenario) addErasure(user string) {
	task := s.Go("erase "+user, func(ctx context.Context, _ *txntest.Task) {
		if _, err := s.hosts[0].Erase(ctx, partition.Caller{Tenant: s.tenant, User: user, Run: "erase"}); err != nil {
			s.troubles = append(s.troubles, "erase: "+err.Error())
		}
	})
	task.OnUpdate = func(_ []storage.Head, writes []storage.Write) {
		s.addEvents(s.Step(), event{name: eraseName(user, writes), apply: func(w world) []world {
			w = w.clone()
			for _, write := range writes {
				w.erase(user, write)
			}
			return []world{w}
		}})
	}
	task.OnDelete = func(what storage.Selector) {
		if strings.HasPrefix(string(what.Prefix), string(storage.MakeKey(storage.Part{Tag: storage.System, Value: "x"})[:1])) {
			return // a record of the host
		}
		s.addEvents(s.Step(), event{name: "drop " + what.Tag, apply: func(w world) []world {
			return []world{w.remove(func(at place, r modelRecord) bool {
				return what.Matches(storage.Record{Key: at.key(s.tenant), Tags: r.tags()})
			})}
		}})
	}
}

// tags returns the tags of the record.
func (r modelRecord) tags() (tags []string) {
	if r.subject != "" {
		tags = append(tags, storage.SubjectTag(r.subject))
	}
	if r.session != "" {
		tags = append(tags, "session/"+r.session)
	}
	return tags
}

// erase applies one write of an erasure to a state of the model. The write removes a record, ends a
// session, or marks the user.
func (w world) erase(user string, write storage.Write) {
	key := write.Record.Key
	at, ours := placeOf(key)
	session := key.Part(storage.Session)
	switch {
	case ours:
		delete(w.records, at)
	case write.Delete: // a record of the host
	case key.Part(storage.System) == "session":
		var state struct{ User string }
		_ = json.Unmarshal(write.Record.Content, &state)
		w.sessions[session] = modelSession{user: state.User, metadata: "{}", ended: true}
	case session != "": // the session of the user
	default:
		w.erased[user]++
	}
}

func eraseName(user string, writes []storage.Write) string {
	name := "erased " + user + ":"
	for _, w := range writes {
		name += " " + w.Record.Key.String()
	}
	return name
}

// sameEnd compares the stored records and sessions with the state of the model after all events.
func (s *scenario) sameEnd(w world) bool {
	ctx := context.Background()
	prefix := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: s.tenant})
	records, err := s.Backend.Scan(ctx, prefix, "", 1000)
	if err != nil {
		return false
	}
	stored := map[storage.Key]storage.Record{}
	for _, r := range records {
		stored[r.Key] = r
	}
	for at, r := range w.records {
		key := at.key(s.tenant)
		if w.visible(r, partition.Caller{}) && !sameRecord(stored[key], r) {
			return false
		}
		delete(stored, key)
	}
	return len(stored) == 0 && s.sameSessions(w)
}

func sameRecord(got storage.Record, want modelRecord) bool {
	return got.Exists() && canonical(got.Content) == want.content && got.Revision == want.revision && slices.Equal(got.Tags, want.tags()) &&
		got.Created.Equal(want.created) && got.Updated.Equal(want.updated) && sameExpiry(got, want)
}

func sameExpiry(got storage.Record, want modelRecord) bool {
	return got.Expires.IsZero() == want.expires.IsZero() && (want.expires.IsZero() || got.Expires.Equal(want.expires))
}

func (s *scenario) sameSessions(w world) bool {
	for _, session := range paletteSessions {
		got, err := s.hosts[0].Sessions().Get(context.Background(), partition.Caller{Tenant: s.tenant, Session: session})
		want, known := w.sessions[session]
		if known != (err == nil) {
			return false
		}
		if known && ((got.Ended != nil) != want.ended || got.User != want.user || canonical(got.Metadata) != want.metadata) {
			return false
		}
	}
	return true
}

// unjustified fails the test in two cases: No event of the scenario explains why a run failed, or a
// fault contains text that tool code must not see.
func (s *scenario) unjustified(t testingT) {
	for _, h := range s.runs {
		if last := len(h.attempts) - 1; h.task.Lost() > 0 && h.attempts[last].begin > h.task.Lost() {
			t.Errorf("seed %d: %s was executed again after an answer was lost\n%s", s.seed, h.name, s)
		}
		if h.err == nil {
			continue
		}
		if h.refused() && !s.reason(h) {
			t.Errorf("seed %d: %s failed without a reason: %v\n%s", s.seed, h.name, h.err, s)
		}
		if strings.Contains(h.err.Error(), txntest.ErrLost.Error()) {
			t.Errorf("seed %d: %s shows an error of the backend: %v", s.seed, h.name, h.err)
		}
	}
	for _, trouble := range s.troubles {
		t.Errorf("seed %d: %s", s.seed, trouble)
	}
}

// reason reports whether an event explains why a run failed.
func (s *scenario) reason(h *runHistory) bool {
	for _, e := range s.others {
		erased, ended := strings.HasPrefix(e.name, "erased"), strings.HasPrefix(e.name, "end")
		switch abi.Code(h.outcomeCode()) {
		case abi.SessionEnded:
			if (erased || ended) && e.begin <= h.end {
				return true
			}
		case abi.Cancelled:
			if erased && e.begin <= h.end {
				return true
			}
		}
	}
	return h.outcomeCode() == string(abi.AccessDenied) && h.caller.User == "" // bound during the run
}

type testingT interface {
	Errorf(format string, args ...any)
}
