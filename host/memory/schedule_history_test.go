package memory_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn/txntest"
)

// attempt is the trace of one execution of the body of a run.
type attempt struct {
	begin, end int       // steps of the scheduler
	stamp      time.Time // the time at which the run began
	at         time.Time // when the attempt began
	trace      []string
	torn       bool // true if stale reads made a call end the attempt
}

// runHistory contains everything that the test observes about one run.
type runHistory struct {
	name       string
	caller     partition.Caller
	program    program
	clock      *clock
	begin, end int
	attempts   []attempt
	done       memory.Done
	err        error
	task       *txntest.Task
	// fault is the failure that the test injects into the first commit.
	fault txntest.Fault
	// seen contains the records that the current attempt has read. Before the first attempt, seen
	// is nil.
	seen map[storage.Key]storage.Record
	// changed is true if the attempt detected a stale read: A record has changed since the attempt
	// first read it. If a run commits blind merges, the commit can also detect a changed record.
	changed bool
}

// event is a change that took effect at one moment. An event takes effect between the steps "begin"
// and "end". The function "apply" returns the possible states of the model after the change. Each
// returned state is consistent with the observations. If no state is consistent, the function
// "apply" returns no state.
type event struct {
	name       string
	begin, end int
	after      int // the index of the event that must precede this event, or -1
	// If idle is true, the event changes nothing. The search applies an idle event as early as
	// possible. The search does not try to apply an idle event later.
	idle  bool
	apply func(world) []world
}

// explain searches for an order of the events that is consistent with the times of the events. The
// function "final" must accept the state of the model after the last event. The argument w is the
// initial state.
func explain(w world, events []event, final func(world) bool) bool {
	if len(events) > maxEvents {
		panic(fmt.Sprintf("the scenario has %d events; a search takes %d", len(events), maxEvents))
	}
	s := search{events: events, final: final, failed: map[string]bool{}}
	for i := range events {
		s.order = append(s.order, i)
	}
	slices.SortStableFunc(s.order, func(i, j int) int { return cmp.Compare(events[i].end, events[j].end) })
	return s.from(w, eventSet{}, 0)
}

type search struct {
	events []event
	order  []int // sorted by the end, because most events take effect shortly before their end
	final  func(world) bool
	failed map[string]bool // states without a solution
}

// maxEvents is the maximum number of events in a scenario.
const maxEvents = 256

// eventSet is a set of events, represented by their indexes.
type eventSet [maxEvents / 64]uint64

func (s eventSet) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s eventSet) with(i int) eventSet {
	s[i/64] |= 1 << (i % 64)
	return s
}

// The method "from" searches for an order of the remaining events. The function "final" must accept
// the state after all events. The method "from" reports whether such an order exists. The argument
// w is the current state of the model. The argument "done" contains the n events that have already
// been applied.
func (s *search) from(w world, done eventSet, n int) bool {
	if n == len(s.events) {
		return s.final(w)
	}
	state := fmt.Sprint(done, w)
	if s.failed[state] {
		return false
	}
	deadline := math.MaxInt
	for i, e := range s.events {
		if !done.has(i) {
			deadline = min(deadline, e.end)
		}
	}
	for _, i := range s.order {
		e := s.events[i]
		if done.has(i) || e.begin > deadline || e.after >= 0 && !done.has(e.after) {
			continue
		}
		for _, next := range e.apply(w) {
			if s.from(next, done.with(i), n+1) {
				return true
			}
			if e.idle {
				s.failed[state] = true
				return false
			}
		}
	}
	s.failed[state] = true
	return false
}

// errTorn ends an attempt of the model. An attempt of the model ends in two cases: A call ended the
// observed attempt at this point, or the results in the model differ from the observed results.
var errTorn = errors.New("the observed attempt ended here")

// outcomeCode returns the outcome of a run. The outcome is "" for success, the code of a fault, or
// "thrown".
func (h *runHistory) outcomeCode() string {
	switch {
	case h.err == nil:
		return ""
	case h.err == errThrown:
		return "thrown"
	}
	if code, ok := h.err.(abi.Code); ok {
		return string(code)
	}
	return string(abi.FaultOf(h.err).Code)
}

func (h *runHistory) unknown() bool { return h.err != nil && abi.FaultOf(h.err).Outcome == "unknown" }

// refused reports whether the run failed because of its session or its user. The session may have
// ended or been bound to another user. The user may have been erased.
func (h *runHistory) refused() bool {
	code := abi.Code(h.outcomeCode())
	return len(h.attempts) > 0 && (code == abi.SessionEnded || code == abi.Cancelled || code == abi.AccessDenied)
}

// events returns the events of a run in order. The events of a run are the start of the session,
// the start of the run, each attempt that stored nothing, and the last attempt. If an attempt
// stored nothing, it must nevertheless have read a consistent state. The argument "first" is the
// index of the first event.
func (h *runHistory) events(id, first int) []event {
	begun := h.end
	if len(h.attempts) > 0 {
		begun = h.attempts[0].begin
	}
	all := []event{
		{name: h.name + " uses its session", begin: h.begin, end: begun, after: -1, apply: h.applySession},
		{name: h.name + " begins", begin: h.begin, end: begun, after: first, apply: h.applyBegin(id)},
	}
	for i, a := range h.attempts {
		e := event{name: fmt.Sprintf("%s attempt %d", h.name, i+1), begin: a.begin, end: a.end, after: first + 1, idle: true, apply: h.applySeen(a)}
		last := i == len(h.attempts)-1 && h.done.Attempts == len(h.attempts)
		if last && !h.refused() {
			e.end, e.apply = h.end, h.applyLast(id, a)
			e.idle = h.err != nil && !h.unknown()
		}
		all = append(all, e)
	}
	return all
}

// applySession starts the session or binds it to the user. If this is impossible, applySession
// changes nothing. A session can end before its run begins.
func (h *runHistory) applySession(w world) []world {
	next := w.clone()
	if next.begin(h.caller); next.sessions[h.caller.Session] == w.sessions[h.caller.Session] {
		return []world{w}
	}
	return []world{next, w}
}

// applyBegin accepts a state of the model in two cases: The run can begin, or the run fails in the
// same way as the observed run.
func (h *runHistory) applyBegin(id int) func(world) []world {
	return func(w world) []world {
		w = w.clone()
		w.began[id] = w.erased[h.caller.User]
		refused := len(h.attempts) == 0 && h.err != nil
		code := w.clone().begin(h.caller)
		if refused != (code != "") || refused && string(code) != h.outcomeCode() || !refused && !w.mayCommit(h.caller) {
			return nil
		}
		return []world{w}
	}
}

// replay executes the program of the run in the model. replay stops at the step that the observed
// attempt reached.
func (h *runHistory) replay(w world, a attempt, lenient bool) (g *guest, trace []string, err error) {
	g = newGuest(w, h.caller, a.stamp)
	calls := 0
	if lenient {
		g.passed = func() bool { return calls <= len(a.trace) && a.trace[calls-1][0] != '!' }
	}
	trace, err = h.program.run(func(op string, args []string) (string, abi.Code, error) {
		if calls++; calls > len(a.trace) {
			return "", "", errTorn
		}
		reply, code := g.call(op, args)
		if want := a.trace[calls-1]; reply != want && "!"+string(code) != want {
			return "", "", errTorn // the model cannot reproduce the attempt in this state
		}
		return reply, code, nil
	})
	return g, trace, err
}

// applySeen accepts a state of the model if the attempt receives the observed results in this
// state.
func (h *runHistory) applySeen(a attempt) func(world) []world {
	return func(w world) []world {
		if _, trace, _ := h.replay(w, a, true); !equal(trace, a.trace) {
			return nil
		}
		return []world{w}
	}
}

// applyLast accepts a state of the model if the run has the observed outcome in this state.
// applyLast returns the state after the run.
func (h *runHistory) applyLast(id int, a attempt) func(world) []world {
	return func(w world) []world {
		g, trace, err := h.replay(w, a, h.err != nil)
		if !equal(trace, a.trace) {
			return nil
		}
		if h.unknown() {
			strict, same, _ := h.replay(w, a, false)
			if equal(same, a.trace) && h.stands(w, id) {
				return []world{w, strict.commit()}
			}
			return []world{w}
		}
		if !h.stands(w, id) {
			return nil
		}
		if h.err != nil {
			if err != h.err {
				return nil
			}
			return []world{w}
		}
		if err != nil || !h.sameEffects(g) {
			return nil
		}
		return []world{g.commit()}
	}
}

// stands reports whether the run can succeed in a state of the model.
func (h *runHistory) stands(w world, id int) bool {
	return w.mayCommit(h.caller) && w.began[id] == w.erased[h.caller.User]
}

// sameEffects checks the revisions that were reported for the writes of the run. The reported
// revisions must equal the revisions in the model.
func (h *runHistory) sameEffects(g *guest) bool {
	reported := map[string]int64{}
	for _, e := range h.done.Effects.Writes {
		reported[e.Store] = e.Revision
	}
	for at := range g.wrote {
		revision, ok := reported[at.store]
		if !ok || revision != g.view[at].revision {
			return false
		}
	}
	return len(reported) == len(g.wrote)
}

func equal(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

func (h *runHistory) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of user %q in session %q, moves %d-%d: %v after %d attempts, stubborn %t\n",
		h.name, h.caller.User, h.caller.Session, h.begin, h.end, h.err, h.done.Attempts, h.program.stubborn)
	for _, s := range h.program.steps {
		fmt.Fprintf(&b, "\t%s\n", s)
	}
	for i, a := range h.attempts {
		fmt.Fprintf(&b, "   attempt %d, moves %d-%d, at %s, torn %t\n", i+1, a.begin, a.end, a.stamp.Format(time.TimeOnly), a.torn)
		for _, reply := range a.trace {
			fmt.Fprintf(&b, "\t%s\n", reply)
		}
	}
	fmt.Fprintf(&b, "   effects %+v\n", h.done.Effects)
	return b.String()
}
