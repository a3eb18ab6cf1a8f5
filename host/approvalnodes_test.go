package host_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/storage/postgres"
)

// A run pauses at one node and is approved at another node. If both nodes approve the run, only one
// approval succeeds, and the model receives each request once.
func TestApprovalAtAnotherNode(t *testing.T) {
	nodes := make([]*gated, 2)
	dsn := approvalCluster.DSN(t)
	for i := range nodes {
		db, err := postgres.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		nodes[i] = newGated(t, db)
	}
	pending := nodes[0].pause(host.Invocation{Tool: "pay", Key: "once"})
	var wg sync.WaitGroup
	results := make([]*report.Result, len(nodes))
	errs := make([]error, len(nodes))
	for i, node := range nodes {
		wg.Go(func() { results[i], errs[i] = node.Approvals().Approve(t.Context(), approver, pending.Token) })
	}
	wg.Wait()
	completed := 0
	for i, err := range errs {
		if err == nil && results[i].Status == report.Completed {
			completed++
		} else if !errors.Is(err, abi.Conflict) {
			t.Errorf("Approve at node %d = %v; want a conflict", i, err)
		}
	}
	if n := len(nodes[0].server.Requests()) + len(nodes[1].server.Requests()); completed != 1 || n != 1 {
		t.Errorf("%d approvals succeeded and %d requests were sent; want 1 and 1", completed, n)
	}
	again, err := run(nodes[1].Host, host.Invocation{Tool: "pay", Key: "once"})
	if err != nil || !again.Repeated || again.Status != report.Completed {
		t.Errorf("the same key at the other node = %+v, %v; want the Result", again, err)
	}
}

// The export of a user contains the user's paused runs. The export does not contain the environment
// of the tool.
func TestExportOfPausedRuns(t *testing.T) {
	g := newGated(t, mem.New())
	g.pause(host.Invocation{Tool: "own", Input: json.RawMessage(`{"n":"canary"}`), Env: map[string]string{"KEY": "secret"}})
	g.pause(host.Invocation{Tool: "own", Input: json.RawMessage(`{"n":"of bob"}`), Caller: host.Caller{User: "bob"}})
	var archive bytes.Buffer
	if err := g.Users().Export(t.Context(), ann, &archive); err != nil {
		t.Fatal(err)
	}
	files, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := files.Open("approvals.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text); !strings.Contains(got, `"input":{"n":"canary"}`) || strings.Contains(got, "secret") || strings.Contains(got, "of bob") {
		t.Errorf("the export contains %s; want the input of ann's run", got)
	}
}
