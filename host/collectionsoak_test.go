package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/postgres"
)

// soakApp is an app that uses three collections. The first collection belongs to the app. In the
// second collection, each entry belongs to a user. The app does not declare the third collection.
const soakApp = `
app: soak
collections: auto
memory:
  tips: {kind: collection, access: application}
  notes: {kind: collection, access: user}
tools:
  steps: {source: steps.js, description: performs operations, grants: {tips: readwrite, notes: readwrite, "auto*": readwrite}, limits: {timeout: 60s}}
`

const (
	soakUsers  = 16
	soakIDs    = 12
	soakSpaces = 2
)

// soakCollections are the names of the collections. All users share the namespaces of the
// collection that belongs to the app.
var soakCollections = []string{"tips", "notes", "auto"}

// openSoak opens a host for the soak test.
func openSoak(backend storage.Backend) (*host.Host, error) {
	loaded, problems := app.Load(fstest.MapFS{
		"app.yaml": {Data: []byte(soakApp)},
		"steps.js": {Data: []byte(`const out = []; for (const [op, ...args] of input.calls) out.push(await memory[op](...args)); return out`)},
	}, "app.yaml")
	if loaded == nil {
		return nil, problems
	}
	return host.Open(context.Background(), host.Options{App: loaded, Backend: backend, Engines: engines.InProcess(), SweepEvery: time.Second})
}

// soakBackend opens a backend. The argument is the path of a database file or a connection string.
func soakBackend(at string) (storage.Backend, func() error, error) {
	if strings.HasPrefix(at, "postgres:") {
		db, err := postgres.Open(context.Background(), at)
		if err != nil {
			return nil, nil, err
		}
		return db, func() error { db.Close(); return nil }, nil
	}
	db, err := bolt.Open(at, nil)
	if err != nil {
		return nil, nil, err
	}
	return db, db.Close, nil
}

// soakContent is the content of an entry. The content includes the values that readers check.
type soakContent struct {
	Text       string `json:"text"`
	User       string `json:"user"`
	Collection string `json:"collection"`
	Space      string `json:"space"`
	Version    int    `json:"version"` // unique for the user, or 0 if no writer changes the entry
	Epoch      int    `json:"epoch"`   // how often the user has been erased before
}

// soakPlace identifies an entry of a user by collection, namespace and id.
type soakPlace struct{ collection, space, id string }

// soakEntry is an entry that must exist according to the test's model of a user.
type soakEntry struct {
	version int
	expires time.Time // zero without a ttl
	unknown bool      // true if the test does not know when the entry ends
}

// endedAt reports whether the entry has ended at the given time. If the time is close to the end of
// the entry, a search is correct whether or not it finds the entry.
func (e soakEntry) endedAt(at time.Time) (ended, unsure bool) {
	if e.expires.IsZero() {
		return false, e.unknown
	}
	return !at.Before(e.expires), at.Sub(e.expires).Abs() < 3*time.Second
}

// soakUser performs operations for one user, and tracks which entries must exist.
type soakUser struct {
	h      *host.Host
	name   string
	rand   *rand.Rand
	report func(format string, args ...any)
	// removed is called with a version of an entry. From then on, no search may find this version.
	removed func(version int)
	next    int
	epoch   int
	live    map[soakPlace]soakEntry
}

func newSoakUser(h *host.Host, i int) *soakUser {
	return &soakUser{
		h: h, name: fmt.Sprint("user", i), rand: rand.New(rand.NewPCG(rand.Uint64(), uint64(i))), report: func(string, ...any) {}, removed: func(int) {},
		live: map[soakPlace]soakEntry{},
	}
}

func (u *soakUser) place() soakPlace {
	return soakPlace{soakCollections[u.rand.IntN(len(soakCollections))], fmt.Sprint("space", u.rand.IntN(soakSpaces)), fmt.Sprint(u.name, "-", u.rand.IntN(soakIDs))}
}

// remember returns a call that stores a new version of the entry at the given place.
func (u *soakUser) remember(at soakPlace, ttl time.Duration) ([]any, int) {
	u.next++
	options := map[string]any{"id": at.id, "namespace": at.space, "metadata": map[string]any{"user": u.name, "odd": u.next%2 == 1}}
	if ttl > 0 {
		options["ttl"] = ttl.String()
	}
	c := soakContent{fmt.Sprintf("tea number %d", u.next), u.name, at.collection, at.space, u.next, u.epoch}
	return []any{"remember", at.collection, c, options}, u.next
}

// run executes calls in one run, and returns the replies. If the run fails, it stores nothing.
func (u *soakUser) run(calls ...[]any) ([]json.RawMessage, error) {
	in, err := json.Marshal(map[string]any{"calls": calls})
	if err != nil {
		return nil, err
	}
	result, err := u.h.Run(context.Background(), host.Invocation{Tool: "steps", Caller: host.Caller{User: u.name}, Input: in})
	if err != nil {
		return nil, err
	}
	var replies []json.RawMessage
	return replies, json.Unmarshal(result.Output, &replies)
}

// act performs one random operation. If the operation fails, and the reason is not a conflict, act
// returns an error. If the user does not find its own entries, act also returns an error.
func (u *soakUser) act() error {
	var err error
	switch n := u.rand.IntN(100); {
	case n < 55:
		err = u.store(u.place())
	case n < 70:
		err = u.forget(u.place())
	case n < 80:
		err = u.storeAndForget()
	case n < 85:
		err = u.forgetOdd()
	case n < 87:
		err = u.erase()
	default:
		return u.check(soakCollections[u.rand.IntN(len(soakCollections))], fmt.Sprint("space", u.rand.IntN(soakSpaces)))
	}
	if errors.Is(err, abi.Conflict) {
		return nil
	}
	return err
}

// set records in the model that an entry was stored.
func (u *soakUser) set(at soakPlace, version int, reply json.RawMessage) error {
	var stored struct {
		Expires *time.Time `json:"expires_at"`
	}
	if err := json.Unmarshal(reply, &stored); err != nil {
		return err
	}
	u.drop(at)
	e := soakEntry{version: version}
	if stored.Expires != nil {
		e.expires = *stored.Expires
	}
	u.live[at] = e
	u.report("stored %s %s %s %d %d", at.collection, at.space, at.id, version, e.expires.UnixMicro())
	return nil
}

// drop records in the model that an entry was removed.
func (u *soakUser) drop(at soakPlace) {
	if old, ok := u.live[at]; ok {
		delete(u.live, at)
		u.removed(old.version)
	}
}

func (u *soakUser) store(at soakPlace) error {
	ttl := []time.Duration{0, 0, 0, time.Second, 30 * time.Second}[u.rand.IntN(5)]
	call, version := u.remember(at, ttl)
	ends := int64(0)
	if ttl > 0 {
		ends = time.Now().Add(ttl).UnixMicro()
	}
	u.report("try %s %s %s %d %d", at.collection, at.space, at.id, version, ends)
	replies, err := u.run(call)
	if err != nil {
		return err
	}
	return u.set(at, version, replies[0])
}

func (u *soakUser) forget(at soakPlace) error {
	u.report("try %s %s %s 0 0", at.collection, at.space, at.id)
	if _, err := u.run([]any{"forget", at.collection, map[string]any{"id": at.id, "namespace": at.space}}); err != nil {
		return err
	}
	u.drop(at)
	u.report("forgot %s %s %s", at.collection, at.space, at.id)
	return nil
}

// storeAndForget makes one run. In this run, it stores two entries, finds both of them, and forgets
// one of them.
func (u *soakUser) storeAndForget() error {
	kept, gone := u.place(), u.place()
	if kept == gone {
		return nil
	}
	first, version := u.remember(kept, 0)
	second, other := u.remember(gone, 0)
	u.report("try %s %s %s %d 0", kept.collection, kept.space, kept.id, version)
	u.report("try %s %s %s 0 0", gone.collection, gone.space, gone.id)
	replies, err := u.run(first, second, []any{"recall", gone.collection, "tea", map[string]any{"namespace": gone.space, "limit": 1000}},
		[]any{"forget", gone.collection, map[string]any{"id": gone.id, "namespace": gone.space}})
	if err != nil {
		return err
	}
	if !strings.Contains(string(replies[2]), fmt.Sprintf(`"user":%q,"version":%d}`, u.name, other)) {
		return fmt.Errorf("a run did not find its own entry %d in %s", other, replies[2])
	}
	u.drop(gone)
	u.report("forgot %s %s %s", gone.collection, gone.space, gone.id)
	return u.set(kept, version, replies[0])
}

// forgetOdd uses a filter to forget entries of the user. forgetOdd forgets all entries of a
// namespace whose versions are odd.
func (u *soakUser) forgetOdd() error {
	at := u.place()
	var odd []soakPlace
	for p, e := range u.live {
		if p.collection == at.collection && p.space == at.space && e.version%2 == 1 {
			odd = append(odd, p)
			u.report("try %s %s %s 0 0", p.collection, p.space, p.id)
		}
	}
	filter := map[string]any{"user": u.name, "odd": true}
	if _, err := u.run([]any{"forget", at.collection, map[string]any{"filter": filter, "namespace": at.space}}); err != nil {
		return err
	}
	for _, p := range odd {
		u.drop(p)
		u.report("forgot %s %s %s", p.collection, p.space, p.id)
	}
	return nil
}

// erase erases the user.
func (u *soakUser) erase() error {
	u.report("erasing")
	if _, err := u.h.Users().Erase(context.Background(), host.Caller{User: u.name}); err != nil {
		return err
	}
	for at := range u.live {
		u.drop(at)
	}
	u.epoch++
	u.report("erased")
	return nil
}

// recalled is the reply of the operation recall.
type recalled struct {
	Results []struct {
		ID      string
		Content soakContent
	}
}

// find performs a recall for a user and returns the entries that the recall finds.
func (u *soakUser) find(collection, space, mode string) (found recalled, err error) {
	replies, err := u.run([]any{"recall", collection, "tea", map[string]any{"namespace": space, "limit": 1000, "mode": mode}})
	if err == nil {
		err = json.Unmarshal(replies[0], &found)
	}
	return found, err
}

// check performs a recall in a namespace. The recall must find exactly those entries of the user
// that have not ended. The recall must not find an entry of another namespace. The recall must not
// find another user's entry, except in the collection of the app.
func (u *soakUser) check(collection, space string) error {
	before := time.Now()
	found, err := u.find(collection, space, []string{"hybrid", "text", "vector"}[u.rand.IntN(3)])
	if err != nil {
		return err
	}
	own := map[string]int{}
	for _, r := range found.Results {
		if r.Content.Collection != collection || r.Content.Space != space || r.Content.User != u.name && collection != soakCollections[0] {
			return fmt.Errorf("recall in %s, %s as %s found %+v", collection, space, u.name, r)
		}
		if r.Content.User == u.name && r.Content.Version > 0 {
			own[r.ID] = r.Content.Version
		}
	}
	for at, e := range u.live {
		if at.collection != collection || at.space != space {
			continue
		}
		if ended, unsure := e.endedAt(before); !unsure && ended != (own[at.id] == 0) || own[at.id] != 0 && own[at.id] != e.version {
			return fmt.Errorf("recall in %s, %s as %s found version %d of %s; want version %d, which ends at %v", collection, space, u.name, own[at.id], at.id, e.version, e.expires)
		}
		delete(own, at.id)
	}
	if len(own) > 0 {
		return fmt.Errorf("recall in %s, %s as %s found removed entries: %v", collection, space, u.name, own)
	}
	return nil
}

// checkAll checks all namespaces.
func (u *soakUser) checkAll() error {
	for _, collection := range soakCollections {
		for i := range soakSpaces {
			if err := u.check(collection, fmt.Sprint("space", i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// soakReader makes searches for various users. soakReader records which versions searches must no
// longer find.
type soakReader struct {
	gone   [soakUsers + 1]sync.Map // the time of removal of each removed version
	checks atomic.Int64
}

func (s *soakReader) read(h *host.Host, random *rand.Rand) error {
	u := newSoakUser(h, random.IntN(soakUsers))
	at := u.place()
	before := time.Now()
	found, err := u.find(at.collection, at.space, "hybrid")
	if errors.Is(err, abi.Cancelled) {
		return nil // the user may have been erased during the run
	}
	if err != nil {
		return err
	}
	for _, r := range found.Results {
		c := r.Content
		if c.Collection != at.collection || c.Space != at.space || c.User != u.name && at.collection != soakCollections[0] {
			return fmt.Errorf("recall in %s, %s as %s found %+v", at.collection, at.space, u.name, r)
		}
		var owner int
		if _, err := fmt.Sscanf(c.User, "user%d", &owner); err != nil {
			return err
		}
		if removed, ok := s.gone[owner].Load(c.Version); ok && removed.(time.Time).Before(before) {
			return fmt.Errorf("recall in %s, %s as %s found %+v, %s after its removal", at.collection, at.space, u.name, r, before.Sub(removed.(time.Time)))
		}
	}
	s.checks.Add(int64(len(found.Results)))
	return nil
}

// fillSoak stores so many entries that some namespaces have an index in memory. No writer changes
// these entries. The owner of such an entry is one of the users, or a user who does not write.
func fillSoak(t *testing.T, h *host.Host) {
	t.Helper()
	fill := func(collection, space, user string) {
		var entries []host.NewEntry
		for range 300 {
			content, err := json.Marshal(soakContent{"tea of the filling", user, collection, space, 0, 0})
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, host.NewEntry{Namespace: space, Content: content})
		}
		for part := range slices.Chunk(entries, host.MaxRemembered) {
			if _, err := host.CollectionsOf(h).Remember(t.Context(), host.Caller{User: user}, collection, part...); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill("tips", "space0", fmt.Sprint("user", soakUsers))
	for i := range 3 {
		fill("notes", "space1", fmt.Sprint("user", i))
	}
}

// TestCollectionSoak starts 16 writers and 16 readers, which use three collections. The writers and
// readers store, replace, find and forget entries. The writers also wait until entries end, and
// erase users. A search must not find an entry of another user or of another namespace. A search
// must not find an entry that was removed before the search began. No entry may be lost.
func TestCollectionSoak(t *testing.T) {
	duration := time.Second
	if os.Getenv("TOOLRUN_SOAK") != "" {
		duration = time.Minute
	}
	onEachBackend(t, func(t *testing.T, backend storage.Backend) {
		h, err := openSoak(backend)
		if err != nil {
			t.Fatal(err)
		}
		other, err := openSoak(backend) // this host has its own indexes, like a second node
		if err != nil {
			t.Fatal(err)
		}
		fillSoak(t, h)
		reader := &soakReader{}
		users := make([]*soakUser, soakUsers)
		var work sync.WaitGroup
		var acts, recalls atomic.Int64
		end := time.Now().Add(duration)
		until := func(count *atomic.Int64, step func() error) {
			work.Go(func() {
				for time.Now().Before(end) && !t.Failed() {
					if err := step(); err != nil {
						t.Error(err)
					}
					count.Add(1)
				}
			})
		}
		for i := range users {
			users[i] = newSoakUser(h, i)
			users[i].removed = func(version int) { reader.gone[i].Store(version, time.Now()) }
			until(&acts, users[i].act)
			random := rand.New(rand.NewPCG(rand.Uint64(), uint64(i)))
			until(&recalls, func() error { return reader.read([]*host.Host{h, other}[i%2], random) })
		}
		work.Wait()
		live, erasures := 0, 0
		for _, u := range users {
			live, erasures = live+len(u.live), erasures+u.epoch
			for _, u.h = range []*host.Host{h, other} {
				if err := u.checkAll(); err != nil {
					t.Error(err)
				}
			}
		}
		if err := errors.Join(h.Close(), other.Close()); err != nil {
			t.Error(err)
		}
		t.Logf("%d acts of %d writers with %d erasures, %d recalls of as many readers with %d results; %d entries at the end", acts.Load(), soakUsers, erasures, recalls.Load(), reader.checks.Load(), live)
	})
}

// crashCollections is the child process of TestKilledCollectionWriters. Each line of its output
// reports that an operation of a user begins or that it has been acknowledged.
func crashCollections(at string, say func(string, ...any)) error {
	backend, _, err := soakBackend(at)
	if err != nil {
		return err
	}
	h, err := openSoak(backend)
	if err != nil {
		return err
	}
	errs := make(chan error, soakUsers)
	for i := range soakUsers {
		u := newSoakUser(h, i)
		u.next = int(time.Now().UnixMicro()) // no earlier process has written this version
		u.report = func(format string, args ...any) { say(u.name+" "+format, args...) }
		go func() {
			err := u.store(u.place()) // earlier processes have stored entries that this model lacks
			for err == nil || errors.Is(err, abi.Conflict) {
				switch n := u.rand.IntN(100); {
				case n < 70:
					err = u.store(u.place())
				case n < 97:
					err = u.forget(u.place())
				default:
					err = u.erase()
				}
			}
			errs <- err
		}()
	}
	return <-errs
}

// crashedUser contains the entries that the parent process expects a user to have.
type crashedUser struct {
	*soakUser
	// tried maps each place to the operations that began after the last acknowledged operation. At
	// most one of these operations can have been committed.
	tried map[soakPlace][]soakTry
	// erasing is true if an erasure of the user has begun and has not been acknowledged.
	erasing bool
}

// soakTry is an operation that the test does not know to be committed.
type soakTry struct {
	version int       // of the written entry; 0 for a removal
	ends    time.Time // the earliest time at which the written entry can end; zero without a ttl
}

// possible reports whether a search that ended at the given time can find the version at the place,
// because one of the tried operations was committed. Version 0 means that the entry does not exist.
func (u *crashedUser) possible(at soakPlace, version int, now time.Time) bool {
	return slices.ContainsFunc(u.tried[at], func(t soakTry) bool {
		ended := !t.ends.IsZero() && !now.Before(t.ends)
		return version == t.version || version == 0 && ended
	})
}

// note reads a line of the child's output and updates the expected entries.
func (u *crashedUser) note(line string) error {
	var at soakPlace
	var version int
	var expires int64
	switch what, rest, _ := strings.Cut(line, " "); what {
	case "try":
		_, err := fmt.Sscan(rest, &at.collection, &at.space, &at.id, &version, &expires)
		try := soakTry{version: version}
		if expires > 0 {
			try.ends = time.UnixMicro(expires)
		}
		u.tried[at] = append(u.tried[at], try)
		return err
	case "stored":
		_, err := fmt.Sscan(rest, &at.collection, &at.space, &at.id, &version, &expires)
		u.live[at] = soakEntry{version: version}
		if expires > 0 {
			u.live[at] = soakEntry{version: version, expires: time.UnixMicro(expires)}
		}
		delete(u.tried, at)
		return err
	case "forgot":
		_, err := fmt.Sscan(rest, &at.collection, &at.space, &at.id)
		delete(u.live, at)
		delete(u.tried, at)
		return err
	case "erasing":
		u.erasing = true
	case "erased":
		clear(u.live)
		clear(u.tried)
		u.erasing = false
	default:
		return fmt.Errorf("unexpected output of the child: %q", line)
	}
	return nil
}

// verify compares the stored entries with the expected entries. After the comparison, the stored
// entries are the new expected entries.
func (u *crashedUser) verify(t *testing.T, h *host.Host) (between int) {
	t.Helper()
	u.h = h
	for _, collection := range soakCollections {
		for i := range soakSpaces {
			space := fmt.Sprint("space", i)
			before := time.Now()
			found, err := u.find(collection, space, "text")
			if err != nil {
				t.Fatal(err)
			}
			after := time.Now()
			stored := map[soakPlace]int{}
			for _, r := range found.Results {
				if c := r.Content; c.Collection != collection || c.Space != space || c.User != u.name && collection != soakCollections[0] {
					t.Errorf("recall in %s, %s as %s found %+v", collection, space, u.name, r)
				} else if c.User == u.name {
					stored[soakPlace{collection, space, r.ID}] = c.Version
				}
			}
			for at, e := range u.live {
				if at.collection != collection || at.space != space {
					continue
				}
				version := stored[at]
				ended, unsure := e.endedAt(before)
				delete(stored, at)
				switch {
				case version == e.version && (!ended || unsure):
				case version == 0 && (ended || unsure || u.erasing):
					delete(u.live, at)
				case u.possible(at, version, after):
					between++
					u.live[at] = soakEntry{version: version, unknown: true}
					if version == 0 {
						delete(u.live, at)
					}
				default:
					t.Errorf("recall in %s as %s found version %d of %v; acknowledged was %+v, tried %v", collection, u.name, version, at, e, u.tried[at])
				}
			}
			for at, version := range stored {
				if !u.possible(at, version, after) {
					t.Errorf("recall in %s as %s found version %d of %v, which must not exist; tried were %v", collection, u.name, version, at, u.tried[at])
				}
				between++
				u.live[at] = soakEntry{version: version, unknown: true}
			}
		}
	}
	clear(u.tried)
	u.erasing = false
	return between
}

// crashCollectionsOnce starts a child process and kills it after some acknowledged operations.
// crashCollectionsOnce passes the child's output to the method "note".
func crashCollectionsOnce(t *testing.T, at string, users map[string]*crashedUser, after int) (acks int) {
	t.Helper()
	cmd, lines := startChild(t, at, "collections")
	if err := readCrashed(cmd, lines, users, after, &acks); err != nil {
		t.Fatal(err)
	}
	return acks
}

func readCrashed(cmd *exec.Cmd, lines *bufio.Scanner, users map[string]*crashedUser, after int, acks *int) error {
	killed := false
	for lines.Scan() {
		name, line, _ := strings.Cut(lines.Text(), " ")
		u := users[name]
		if u == nil {
			return fmt.Errorf("unexpected output of the child: %q", lines.Text())
		}
		if err := u.note(line); err != nil {
			return err
		}
		if !strings.HasPrefix(line, "try") && line != "erasing" {
			*acks++
		}
		if !killed && *acks >= after {
			killed = true
			if err := cmd.Process.Kill(); err != nil {
				return err
			}
		}
	}
	_ = cmd.Wait() // it was killed
	return nil
}

// TestKilledCollectionWriters kills processes while they store, forget and erase entries. No
// acknowledged entry may be lost. No removed or erased entry may exist again. Every entry that is
// found must have been stored by one of the processes.
func TestKilledCollectionWriters(t *testing.T) {
	want := 500
	if os.Getenv("TOOLRUN_SOAK") != "" {
		want = 20000
	}
	test := func(t *testing.T, at string) {
		users := map[string]*crashedUser{}
		for i := range soakUsers {
			u := &crashedUser{soakUser: newSoakUser(nil, i), tried: map[soakPlace][]soakTry{}}
			users[u.name] = u
		}
		acks, kills, between := 0, 0, 0
		for acks < want || kills < 5 {
			acks += crashCollectionsOnce(t, at, users, 20+rand.IntN(want/4))
			kills++
			backend, closeBackend, err := soakBackend(at)
			if err != nil {
				t.Fatalf("the database does not open after kill %d: %v", kills, err)
			}
			h, err := openSoak(backend)
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range users {
				between += u.verify(t, h)
			}
			if err := errors.Join(h.Close(), closeBackend()); err != nil {
				t.Fatal(err)
			}
			if t.Failed() {
				return
			}
		}
		t.Logf("%d kills of %d writers, %d acknowledged acts, %d acts stored without an acknowledgement: none lost", kills, soakUsers, acks, between)
	}
	t.Run("bolt", func(t *testing.T) {
		t.Parallel() // the child processes start slowly and wait for the disk
		test(t, filepath.Join(t.TempDir(), "crash.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, approvalCluster.DSN(t))
	})
}
