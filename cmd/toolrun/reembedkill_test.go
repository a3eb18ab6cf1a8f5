package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model/modeltest"
)

// TestReembedSurvivesKill starts the command "toolrun collection reembed", and kills the command
// with SIGKILL while it waits for the model. After the lease has expired, another process continues
// the work. The other process must send again only the texts of the request that the kill
// interrupted.
func TestReembedSurvivesKill(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command and runs processes, which takes seconds")
	}
	binary := buildToolrun(t)
	d := dreamer{t, t.TempDir(), modeltest.Start()}
	t.Cleanup(d.server.Close)
	models := func(dim int) string {
		d.server.Dim = dim
		return fmt.Sprintf("embeddings:\n  small: {base_url: %q, model: tiny, dim: %d, timeout: 1m}\n", d.server.URL(), dim)
	}
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, `{"id": "e%d", "content": "entry %d"}`+"\n", i, i)
	}
	writeFiles(t, d.dir, map[string]string{
		"app.yaml":    "app: shop\nmemory:\n  kb: {kind: collection, access: application, embedding: small}\n",
		"models.yaml": models(2), "lines.jsonl": lines.String(),
	})
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(binary, append(append([]string{"collection"}, args...), "--models", "models.yaml")...)
		cmd.Dir = d.dir
		return cmd
	}
	if out, err := command("import", "kb", "lines.jsonl", "--db", "memory.db").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	imported := len(d.server.Requests())
	if err := os.WriteFile(filepath.Join(d.dir, "models.yaml"), []byte(models(3)), 0o600); err != nil {
		t.Fatal(err)
	}
	d.server.Script(modeltest.Reply{}, modeltest.Reply{Delay: time.Hour})
	killed := command("reembed", "kb", "--db", "memory.db")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	if err := d.server.Await(t.Context(), imported+2); err != nil {
		t.Fatal(err)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	if out, err := command("reembed", "kb", "--db", "memory.db").CombinedOutput(); err == nil || !strings.Contains(string(out), "conflict: another process is moving the entries") {
		t.Errorf("a command before the end of the lease: %v, %s", err, out)
	}
	h := d.open(10 * time.Minute)
	done, err := host.CollectionsOf(h).Reembed(t.Context(), host.Caller{}, "kb", nil)
	if err != nil || !done.Done || done.Moved != 100 || done.Dim != 3 {
		t.Fatalf("Reembed = %+v, %v", done, err)
	}
	sent := 0
	for _, r := range d.server.Requests()[imported:] {
		var body struct{ Input []string }
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		sent += len(body.Input)
	}
	if sent <= 100 || sent > 100+64 {
		t.Errorf("%d texts were sent; want 100 and one batch", sent)
	}
	found, err := host.CollectionsOf(h).Recall(t.Context(), host.Caller{}, host.RecallEntries{Collection: "kb", Query: "entry 7", Limit: 1})
	if err != nil || len(found) != 1 || found[0].ID != "e7" {
		t.Errorf("Recall = %+v, %v", found, err)
	}
}
