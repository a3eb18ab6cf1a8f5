package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// endingFiles returns the files of an app with an agent. At the end of a session, the agent copies
// the fact user.visits to the fact user.seen.
func endingFiles() fstest.MapFS {
	files := deskFiles()
	source := strings.Replace(string(files["desk.abl"].Data), "    - ON: session:start\n", "    - ON: session:end\n      ACTION: inject_context\n      PATHS: [user.visits]\n    - ON: session:start\n", 1)
	files["desk.abl"].Data = []byte(strings.Replace(source, "    - WHEN: turns > 1\n", "    - WHEN: user.visits IS SET\n      STORE: user.visits -> user.seen\n    - WHEN: turns > 1\n", 1))
	return files
}

// clockOf is a clock whose time a test can set.
type clockOf struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clockOf) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *clockOf) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// idleDesk is a host. The user ann has an idle session and a value of the fact user.visits.
type idleDesk struct {
	*host.Host
	t     *testing.T
	clock *clockOf
	hook  *beforeRun
}

// beforeRun is an observer that calls a function before each run.
type beforeRun struct {
	host.NopObserver
	call func(host.RunInfo) error
}

func (b *beforeRun) BeforeRun(_ context.Context, run host.RunInfo) error {
	if b.call == nil {
		return nil
	}
	return b.call(run)
}

func newIdleDesk(t *testing.T) *idleDesk {
	t.Helper()
	d := &idleDesk{t: t, clock: &clockOf{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}, hook: &beforeRun{}}
	d.Host = openDeskFiles(t, endingFiles(), inProcess, func(o *host.Options) {
		o.Now, o.SweepEvery, o.Observers, o.Ledger = d.clock.read, -1, []host.Observer{d.hook}, 720*time.Hour
	})
	say(t, d.Host, annInS1, "x")
	d.setVisits("3")
	d.clock.advance(29 * time.Hour) // a day, an eighth of a day, and the hour for which the sweeper waits
	return d
}

func (d *idleDesk) setVisits(n string) {
	d.t.Helper()
	call := abi.Call{Op: abi.SetFact, Args: []json.RawMessage{json.RawMessage(`"user.visits"`), json.RawMessage(n)}}
	if _, _, err := d.Stores().Do(d.t.Context(), host.Caller{User: "ann"}, memory.Operator(), call); err != nil {
		d.t.Fatal(err)
	}
}

// seen returns the fact that the agent stores at the end of the session.
func (d *idleDesk) seen() string {
	d.t.Helper()
	return content(d.t, d.Host, host.Caller{User: "ann"}, abi.GetFact, "user.seen")
}

// ended reports whether the session has a tombstone.
func (d *idleDesk) ended() bool {
	d.t.Helper()
	_, err := d.Sweep(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	list, _, err := d.Stores().List(d.t.Context(), host.Caller{}, "agents", "", 100)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, r := range list {
		if r.Session == "s1" {
			return false
		}
	}
	return true
}

// If a sweep finds an idle session, it fires session:end once and ends the session.
func TestIdleSessionEndOfAgents(t *testing.T) { onBackends(t, testIdleSessionEndOfAgents) }

func testIdleSessionEndOfAgents(t *testing.T) {
	d := newIdleDesk(t)
	fired := 0
	d.hook.call = func(run host.RunInfo) error { fired++; return nil }
	if _, err := d.Sweep(t.Context()); err != nil || d.seen() != "3" {
		t.Fatalf("after a sweep user.seen is %s, %v; want 3", d.seen(), err)
	}
	if _, err := d.Agents().Turn(t.Context(), host.Turn{Caller: annInS1}); !errors.Is(err, abi.SessionEnded) {
		t.Errorf("a turn of the ended session = %v; want session_ended", err)
	}
	fired = 0
	d.setVisits("4")
	if !d.ended() || fired != 0 || d.seen() != "3" {
		t.Errorf("a second sweep performs %d turns, and user.seen is %s; want no turn", fired, d.seen())
	}
	entries, _, _, err := d.Ledger().Entries(t.Context(), host.Caller{}, ledger.Query{Session: "s1", Tool: "Desk", Writes: true, Limit: 10})
	if n := len(entries); err != nil || n != 2 || !slices.ContainsFunc(entries[1].Writes, func(w report.WriteEffect) bool { return w.Item == "user.seen" }) {
		t.Errorf("the ledger has the turns %+v, %v; want the end of the session as the second", entries, err)
	}
}

// If a sweep is canceled during the event, it does not end the session. The next sweep then fires
// the event.
func TestCanceledIdleEnd(t *testing.T) {
	d := newIdleDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	d.hook.call = func(host.RunInfo) error { cancel(); return nil }
	_, _ = d.Sweep(ctx)
	if got := d.seen(); got != "null" {
		t.Fatalf("after a canceled sweep user.seen is %s", got)
	}
	d.hook.call = nil
	if !d.ended() || d.seen() != "3" {
		t.Errorf("after the next sweep user.seen is %s; want 3", d.seen())
	}
}

// If an agent fails at the end of an idle session, the session nevertheless ends.
func TestFailedIdleEnd(t *testing.T) {
	d := newIdleDesk(t)
	d.hook.call = func(host.RunInfo) error { return errors.New("refused") }
	if _, err := d.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.hook.call = nil
	if !d.ended() || d.seen() != "null" {
		t.Errorf("user.seen is %s; want the session ended without its event", d.seen())
	}
}

// If a session is not idle, BeforeIdleEnd neither fires the event nor ends the session.
func TestOpenSessionIsNoIdleSession(t *testing.T) {
	d := newIdleDesk(t)
	say(t, d.Host, host.Caller{User: "ann", Session: "s2"}, "x")
	seen := d.seen()
	if !d.Sessions().BeforeIdleEnd(t.Context(), host.Caller{Session: "s2"}) || d.seen() != seen {
		t.Errorf("user.seen is %s; want %s", d.seen(), seen)
	}
	if s, err := d.Sessions().Get(t.Context(), host.Caller{Session: "s2"}); err != nil || s.Ended != nil {
		t.Errorf("the session = %+v, %v; want it open", s, err)
	}
}

// The event and the end of the session are one transaction. If the process is killed after this
// transaction, no later sweep fires the event again.
func TestIdleEndIsFiredOnce(t *testing.T) {
	d := newIdleDesk(t)
	d.Sessions().BeforeIdleEnd(t.Context(), host.Caller{Session: "s1"}) // another sweep after the kill
	d.setVisits("4")
	if got := d.seen(); got != "3" || !d.ended() || d.seen() != "3" {
		t.Errorf("user.seen is %s, and %s after the next sweep; want 3", got, d.seen())
	}
}
