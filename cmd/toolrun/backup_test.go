package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/report"
)

// pairApp is an app whose tool increments two records of a user in one transaction. Each
// transaction adds a ledger entry.
var pairApp = map[string]string{
	"app.yaml": `
app: pair
memory: {counts: {access: user}, mirrors: {access: user}, notes: {access: user}}
tools:
  count: {source: count.js, description: counts, grants: {counts: readwrite, mirrors: readwrite}}
  show: {source: show.js, description: shows, grants: {counts: read, mirrors: read}}
`,
	"count.js": `
const n = ((await memory.get_content("counts"))?.n ?? 0) + 1;
await memory.set_content("counts", {n});
await memory.set_content("mirrors", {n, padding: "x".repeat(n * 997 % 20000)});
return n;
`,
	"show.js": `return [(await memory.get_content("counts"))?.n ?? 0, (await memory.get_content("mirrors"))?.n ?? 0];`,
}

// erasedCanary is a text. The only user who has stored this text is later erased.
const erasedCanary = "CANARY-of-a-user-who-was-erased"

// restoreTest contains a service and its clients. The test makes backups of the service, kills it
// and restores it.
type restoreTest struct {
	*testing.T
	binary, dir, db, keys, key, backupKey string
	clients                               []*counter
}

func (t *restoreTest) start() *serving {
	t.Helper()
	return startServe(t, t.binary, t.dir, "--inprocess", "--keys", t.keys, "--db", t.db, "--rate", "0", "--linger", "0s")
}

// ask sends a request and decodes the response into v.
func (t *restoreTest) ask(s *serving, method, path, body string, v any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+t.key)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.stderr)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && v != nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil || response.StatusCode/100 != 2 {
		t.Fatalf("%s %s = %d %s, %v", method, path, response.StatusCode, text, err)
	}
}

// eraseCanary stores canary texts for a user and then erases the user.
func (t *restoreTest) eraseCanary(s *serving) {
	t.Helper()
	for i := range 4 {
		t.ask(s, "PUT", "/api/v1/stores/notes/record?user_id=victim", fmt.Sprintf(`{"n":%d,"text":%q}`, i, strings.Repeat(erasedCanary, 2000)), nil)
	}
	t.ask(s, "POST", "/api/v1/sessions", fmt.Sprintf(`{"session_id":"v-%d","user_id":"victim","metadata":{"text":%q}}`, rand.Uint64(), strings.Repeat(erasedCanary, 100)), nil)
	t.ask(s, "DELETE", "/api/v1/users/victim", "", nil)
}

// backup makes a backup of the service. The test can kill the service during the backup.
func (t *restoreTest) backup(s *serving, dest string) error {
	cmd := exec.CommandContext(t.Context(), t.binary, "db", "backup", dest, "--force", "--server", s.url)
	cmd.Env = append(os.Environ(), "TOOLRUN_KEY="+t.backupKey)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// check reads the data of the restored service. For each user, both counts in the records and the
// number of ledger entries must be equal. If a run was acknowledged before the backup began, the
// restored data must contain the run. After the check, the clients continue with the restored
// counts.
func (t *restoreTest) check(s *serving, acknowledged []int) {
	t.Helper()
	entries := map[string]int{}
	for after := ""; ; {
		var page struct {
			Items []struct {
				User   string `json:"user_id"`
				Tool   string
				Writes []struct{ Store string }
			}
			Next string
		}
		t.ask(s, "GET", "/api/v1/ledger?tool=count&writes=true&limit=500&after="+after, "", &page)
		for _, e := range page.Items {
			entries[e.User]++
			if len(e.Writes) != 2 {
				t.Errorf("an entry of a count has the writes %v; want 2", e.Writes)
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	for i, c := range t.clients {
		var result report.Result
		t.ask(s, "POST", "/api/v1/runs", fmt.Sprintf(`{"tool":"show","user_id":%q}`, c.user), &result)
		var n [2]int
		if err := json.Unmarshal(result.Output, &n); err != nil {
			t.Fatal(err)
		}
		// For each client, the service can also have stored one run without acknowledging it.
		if n[0] != n[1] || n[0] != entries[c.user] || n[0] < acknowledged[i] || n[0] > c.done+1 {
			t.Errorf("%s has counts %d, mirrors %d, %d entries in the ledger; %d runs were acknowledged before the backup, %d in all",
				c.user, n[0], n[1], entries[c.user], acknowledged[i], c.done)
		}
		c.done = n[0]
	}
}

// noCanary checks that a file does not contain the text of the erased user.
func (t *restoreTest) noCanary(path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte(erasedCanary)); n > 0 {
		t.Errorf("%s contains erased text %d times", filepath.Base(path), n)
	}
}

// load is a set of clients that write concurrently.
type load struct {
	cancel context.CancelFunc
	work   sync.WaitGroup
	mu     sync.Mutex
	done   []int // the number of acknowledged runs of each client
}

// write makes all clients write. The clients stop when the load is stopped or the service no longer
// responds.
func (t *restoreTest) write(s *serving) *load {
	l := &load{done: make([]int, len(t.clients))}
	ctx, cancel := context.WithCancel(t.Context())
	l.cancel = cancel
	for i, c := range t.clients {
		l.done[i] = c.done
		l.work.Go(func() {
			for before := -1; ctx.Err() == nil && c.done != before; {
				before = c.done
				if err := c.once(ctx, s, t.key); err != nil {
					t.Error(err)
					return
				}
				l.mu.Lock()
				l.done[i] = c.done
				l.mu.Unlock()
			}
		})
	}
	return l
}

func (l *load) acknowledged() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.done)
}

func (l *load) stop() {
	l.cancel()
	l.work.Wait()
}

// aWhile sleeps for a random duration. In this time, the clients can finish some runs.
func aWhile() { time.Sleep(time.Duration(200+rand.IntN(300)) * time.Millisecond) }

// round makes a backup while the clients write, and then restores this backup. If the argument
// "kill" is true, the service is first killed during an earlier backup.
func (t *restoreTest) round(kill bool) {
	t.Helper()
	s := t.start()
	t.eraseCanary(s)
	l := t.write(s)
	aWhile()
	dest := filepath.Join(t.dir, "backup.db")
	if kill {
		s = t.killDuringBackup(s, l, dest)
		l = t.write(s)
		aWhile()
	}
	acknowledged := l.acknowledged()
	if err := t.backup(s, dest); err != nil {
		t.Fatalf("%v\n%s", err, s.stderr)
	}
	l.stop()
	t.end(s)
	t.noCanary(dest)
	t.restore(dest)
	s = t.start()
	t.check(s, acknowledged)
	t.end(s)
}

// killDuringBackup kills the service while the service creates or sends a backup. Then
// killDuringBackup starts the service again.
func (t *restoreTest) killDuringBackup(s *serving, l *load, dest string) *serving {
	t.Helper()
	ended := make(chan error)
	go func() { ended <- t.backup(s, dest) }()
	time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
	_ = s.cmd.Process.Kill()
	if err := <-ended; err != nil {
		if _, err := os.Stat(dest); err == nil {
			t.Error("a backup that failed left a file")
		}
	}
	l.stop()
	_ = s.cmd.Wait()
	return t.start()
}

// end stops a service with the signal of Ctrl-C.
func (t *restoreTest) end(s *serving) {
	t.Helper()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the service ended with %v\n%s", err, s.stderr)
	}
}

// restore restores a backup in the steps that docs/howto/back-up-and-restore.md describes. restore
// also compacts the old database.
func (t *restoreTest) restore(backup string) {
	t.Helper()
	if out, err := exec.Command(t.binary, "db", "check", backup).CombinedOutput(); err != nil {
		t.Errorf("db check: %v\n%s", err, out)
	}
	before := filepath.Join(t.dir, "before.db")
	if err := os.Rename(t.db, before); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(t.binary, "db", "compact", before).CombinedOutput(); err != nil {
		t.Errorf("db compact: %v\n%s", err, out)
	}
	t.noCanary(before)
	for _, left := range []string{before, backup} { // killed services leave no temporary files
		if found, _ := filepath.Glob(filepath.Join(t.dir, "."+filepath.Base(left)+".*")); len(found) > 0 {
			t.Errorf("temporary files remain: %v", found)
		}
	}
	if err := os.Rename(backup, t.db); err != nil {
		t.Fatal(err)
	}
}

// A backup is made while 32 clients write. After a restore, the two counts of each user must be
// equal. If the service was killed during an earlier backup, the counts must also be equal. The
// backup must contain no data of an erased user.
func TestBackupRestores(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are killed as on Linux")
	}
	rounds := 1
	if os.Getenv("TOOLRUN_SOAK") != "" {
		rounds = 20
	}
	r := &restoreTest{T: t, binary: buildToolrun(t), dir: t.TempDir()}
	writeFiles(t, r.dir, pairApp)
	r.db = filepath.Join(r.dir, "memory.db")
	r.keys, r.key = makeKeys(t, r.binary, r.dir)
	out, err := exec.Command(r.binary, "key", "create", "--keys", r.keys, "--role", "backup", "--json", "nightly").Output()
	var key struct{ Secret string }
	if err == nil {
		err = json.Unmarshal(out, &key)
	}
	if err != nil {
		t.Fatalf("create a key: %v", err)
	}
	r.backupKey = key.Secret
	for i := range 32 {
		r.clients = append(r.clients, &counter{user: fmt.Sprint("user", i)})
	}
	sum := 0
	for round := range rounds {
		r.round(round%2 == 1)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	for _, c := range r.clients {
		sum += c.done
	}
	if sum < len(r.clients) {
		t.Errorf("%d runs in %d rounds", sum, rounds)
	}
	t.Logf("%d rounds, %d runs", rounds, sum)
}
