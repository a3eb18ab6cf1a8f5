package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/model/openai"
	"github.com/toolrun/toolrun/host/storage"
)

// openReembed opens a host whose collections use the embedder of a provider. openReembed needs no
// *testing.T. The clock of the host is ahead of the real time by the given duration.
func openReembed(backend storage.Backend, url string, dim int, ahead time.Duration) (*host.Host, error) {
	loaded, problems := app.Load(fstest.MapFS{"app.yaml": {Data: fmt.Appendf(nil, reembedApp, "small")}}, "app.yaml")
	if loaded == nil {
		return nil, problems
	}
	config, err := model.ReadConfig("models.yaml", fmt.Appendf(nil, "embeddings:\n  small: {base_url: %q, model: tiny, dim: %d, timeout: 1m}\n", url, dim))
	if err != nil {
		return nil, err
	}
	set, err := model.NewSet(config, map[string]model.Factory{"openai": openai.Factory()}, func(string) string { return "" })
	if err != nil {
		return nil, err
	}
	return host.Open(context.Background(), host.Options{
		App: loaded, Backend: backend, Models: set, Engines: testEngines(), SweepEvery: -1, Now: func() time.Time { return time.Now().Add(ahead) },
	})
}

// crashReembed is the child process of TestReembedKilled. The process moves the collection "kb"
// until it is killed.
func crashReembed(at, url string) error {
	backend, _, err := soakBackend(at)
	if err != nil {
		return err
	}
	h, err := openReembed(backend, url, 3, 0)
	if err != nil {
		return err
	}
	if _, err := host.CollectionsOf(h).Reembed(context.Background(), host.Caller{}, "kb", nil); err != nil {
		return err
	}
	return errors.New("the move ended")
}

// TestReembedKilled starts a process that moves a collection. While the process waits for the
// provider, the test kills it with SIGKILL. Until the lease has expired, no other process can move
// the collection. When the lease has expired, another process continues the move. The other process
// must embed only those texts whose new vectors were not stored.
func TestReembedKilled(t *testing.T) {
	t.Run("bolt", func(t *testing.T) { testReembedKilled(t, filepath.Join(t.TempDir(), "crash.db")) })
	t.Run("postgres", func(t *testing.T) { testReembedKilled(t, approvalCluster.DSN(t)) })
}

func testReembedKilled(t *testing.T, at string) {
	const entries = 100
	server := startEmbedder(t, 2)
	with := func(dim int, ahead time.Duration, use func(host.Collections)) {
		t.Helper()
		backend, closeBackend, err := soakBackend(at)
		if err != nil {
			t.Fatal(err)
		}
		h, err := openReembed(backend, server.URL(), dim, ahead)
		if err != nil {
			t.Fatal(err)
		}
		use(host.CollectionsOf(h))
		if err := errors.Join(h.Close(), closeBackend()); err != nil {
			t.Fatal(err)
		}
	}
	with(2, 0, func(c host.Collections) {
		var all []host.NewEntry
		for i := range entries {
			all = append(all, host.NewEntry{ID: fmt.Sprintf("e%03d", i), Content: text(fmt.Sprintf("entry %03d", i))})
		}
		if _, err := c.Remember(t.Context(), host.Caller{}, "kb", all...); err != nil {
			t.Fatal(err)
		}
	})
	before := len(server.Requests())
	server.Dim = 3
	server.Script(modeltest.Reply{}, modeltest.Reply{Delay: time.Hour})
	cmd, _ := startChild(t, at, "reembed "+server.URL())
	if err := server.Await(t.Context(), before+2); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	with(3, time.Minute, func(c host.Collections) {
		if _, err := c.Reembed(t.Context(), host.Caller{}, "kb", nil); !errors.Is(err, abi.Conflict) {
			t.Errorf("before the end of the lease, Reembed = %v; want a conflict", err)
		}
	})
	with(3, 3*time.Minute, func(c host.Collections) {
		moved, err := c.Reembed(t.Context(), host.Caller{}, "kb", nil)
		if err != nil || !moved.Done || moved.Moved != entries || moved.Dim != 3 {
			t.Errorf("Reembed = %+v, %v; want all entries moved", moved, err)
		}
		found, err := c.Recall(t.Context(), host.Caller{}, host.RecallEntries{Collection: "kb", Query: "entry 007", Limit: 1000})
		if err != nil || len(found) != entries || found[0].ID != "e007" {
			t.Errorf("Recall = %d entries, %v; want all of them, e007 first", len(found), err)
		}
	})
	sent := map[string]int{}
	for _, r := range server.Requests()[before:] {
		var body struct{ Input []string }
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		for _, text := range body.Input {
			sent[text]++
		}
	}
	again := 0
	for text, n := range sent {
		if again += n - 1; n > 2 {
			t.Errorf("%q was sent %d times", text, n)
		}
	}
	if first := entries - 64; again > first {
		t.Errorf("%d texts were sent again; want at most the %d of the request in progress", again, first)
	}
}
