package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/model/openai"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

// dreamer is an app with sleep-time memory.
type dreamer struct {
	*testing.T
	dir    string
	server *modeltest.Server
}

// say sends a message of a user to a service, which records the message.
func (d dreamer) say(s *serving, key, user string) {
	d.Helper()
	body := fmt.Sprintf(`{"user_id":%q,"messages":[{"role":"user","content":"hello"}]}`, user)
	status, err := s.post(d.Context(), key, "/api/v1/sessions/of-"+user+"/messages", body, nil, nil)
	if err != nil || status != 200 {
		d.Fatalf("the messages of %s: status %d, %v\n%s", user, status, err, s.stderr)
	}
}

// awaitBlock waits until a run has updated the block of a user.
func (d dreamer) awaitBlock(ctx context.Context, s *serving, key, user string) {
	d.Helper()
	for {
		var found struct{ Results []json.RawMessage }
		status, err := s.post(ctx, key, "/api/v1/memory/recall", fmt.Sprintf(`{"query":"hello","user_id":%q}`, user), nil, &found)
		if err != nil || status != 200 {
			d.Fatalf("recall for %s: status %d, %v\n%s", user, status, err, s.stderr)
		}
		if len(found.Results) > 0 {
			return
		}
		select {
		case <-ctx.Done():
			d.Fatalf("no block of %s: %v", user, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// open opens the app in this process. The app's clock is ahead of the real time.
func (d dreamer) open(ahead time.Duration) *host.Host {
	d.Helper()
	declared, problems := app.Load(os.DirFS(d.dir), "app.yaml")
	if problems.Err() != nil {
		d.Fatal(problems)
	}
	text, err := os.ReadFile(filepath.Join(d.dir, "models.yaml"))
	if err != nil {
		d.Fatal(err)
	}
	config, err := model.ReadConfig("models.yaml", text)
	if err != nil {
		d.Fatal(err)
	}
	models, err := model.NewSet(config, map[string]model.Factory{"openai": openai.Factory()}, os.Getenv)
	if err != nil {
		d.Fatal(err)
	}
	db, err := bolt.Open(filepath.Join(d.dir, "memory.db"), nil)
	if err != nil {
		d.Fatal(err)
	}
	h, err := host.Open(d.Context(), host.Options{
		App: declared, Backend: db, Engines: []engine.Engine{js.New()}, Models: models, SweepEvery: -1,
		Now: func() time.Time { return time.Now().Add(ahead) },
	})
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() {
		if err := h.Close(); err != nil {
			d.Error(err)
		}
		if err := db.Close(); err != nil {
			d.Error(err)
		}
	})
	return h
}

// TestSleepSurvivesKill kills a service with SIGKILL during runs of sleep-time memory. Each
// conversation must change its block exactly once. The service can be killed after the commit of
// the conversation's run, or during the run's request to the model. If the kill interrupts a
// request to the model, the request is repeated after the lease has expired. The repeated request
// must have the same idempotency key.
func TestSleepSurvivesKill(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command and waits for a service, which takes seconds")
	}
	binary := buildToolrun(t)
	d := dreamer{t, t.TempDir(), modeltest.Start()}
	t.Cleanup(d.server.Close)
	d.server.Always(modeltest.Reply{Text: `{"proposals":[{"block":"archival","scope":"user","content":"- said hello"}]}`})
	writeFiles(t, d.dir, map[string]string{
		"app.yaml":    "app: shop\nblocks: true\nsleep: {after: 1s, model: local}\n",
		"models.yaml": fmt.Sprintf("chat:\n  local: {base_url: %q, model: tiny}\n", d.server.URL()),
	})
	keys, key := makeKeys(t, binary, d.dir)
	s := startServe(t, binary, filepath.Join(d.dir, "app.yaml"), "--inprocess", "--keys", keys, "--db", filepath.Join(d.dir, "memory.db"),
		"--models", filepath.Join(d.dir, "models.yaml"))
	d.say(s, key, "before1")
	d.say(s, key, "before2")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := d.server.Await(ctx, 2); err != nil {
		t.Fatalf("%v\n%s", err, s.stderr)
	}
	d.awaitBlock(ctx, s, key, "before1")
	d.awaitBlock(ctx, s, key, "before2")
	release := d.server.Hold()
	for _, user := range []string{"during1", "during2", "during3"} {
		d.say(s, key, user)
	}
	if err := d.server.Await(ctx, 5); err != nil {
		t.Fatalf("%v\n%s", err, s.stderr)
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
	release()
	h := d.open(10 * time.Minute) // after all leases have expired
	for range 5 {
		if _, err := h.Sleep().RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	d.check(h)
}

// check checks the block of each user and the idempotency keys of the requests.
func (d dreamer) check(h *host.Host) {
	d.Helper()
	for _, user := range []string{"before1", "before2", "during1", "during2", "during3"} {
		blocks, err := h.Blocks().List(d.Context(), host.Caller{User: user}, block.ScopeAll)
		if err != nil || len(blocks) != 1 || blocks[0].Content != "- said hello" || !blocks[0].Updated.Equal(blocks[0].Created.Truncate(time.Millisecond)) {
			d.Errorf("the blocks of %s are %+v, %v; want one that was written once", user, blocks, err)
		}
	}
	repeated := 0
	for _, n := range d.server.Keys() {
		if n > 2 {
			d.Errorf("the model received %d requests with one idempotency key; want at most 2", n)
		}
		repeated += n - 1
	}
	if n := len(d.server.Keys()); n != 5 || repeated != 3 {
		d.Errorf("the requests have %d idempotency keys, and %d are repeated; want 5 and 3", n, repeated)
	}
	status, err := h.Sleep().Status(d.Context(), host.Caller{})
	if text, _ := json.Marshal(status); err != nil || status != (host.SleepStatus{}) {
		d.Errorf("the state is %s, %v; want no conversations", text, err)
	}
}
