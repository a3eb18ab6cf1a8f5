package fact_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
)

// The function "in" returns a caller of a workflow.
func in(workflow string, c partition.Caller) partition.Caller {
	c.Workflow = workflow
	return c
}

// records returns all records of the backend, including expired records.
func (f *facts) records() []storage.Record {
	f.t.Helper()
	all, err := f.backend.Scan(f.t.Context(), "", "", 1000)
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

// TestWorkflow checks that the sessions of a workflow share the facts with the scope
// "execution_tree". Other workflows, and sessions without a workflow, must have separate facts.
func TestWorkflow(t *testing.T) {
	f := open(t)
	f.want(in("w1", ann), abi.SetFact, `"workflow.case", 1`, `{`)
	f.want(in("w1", as("ann", "s3")), abi.SetFact, `"execution_tree.step", 2`, `{`)
	f.want(in("w1", as("ann", "")), abi.GetFact, `"workflow.case"`, `1`)
	f.want(in("w1", as("ann", "")), abi.GetFact, `"execution_tree.step"`, `2`)
	f.want(in("w2", ann), abi.GetFact, `"workflow.case"`, `null`)
	f.want(ann, abi.GetFact, `"workflow.case"`, `null`)
	f.want(in("w1", bob), abi.GetFact, `"workflow.case"`, `access_denied: the workflow belongs to another user`)
	f.want(in("w1", as("", "")), abi.GetFact, `"workflow.case"`, `access_denied: `)
	f.want(in("a/b", ann), abi.GetFact, `"workflow.case"`, `invalid_argument: invalid workflow id`)
	if got := f.paths(in("w1", ann), ``); got != "execution_tree.step workflow.case" {
		t.Errorf("list_facts in the workflow has %s", got)
	}
	if got := f.paths(ann, ``); got != "" {
		t.Errorf("list_facts in the session has %s", got)
	}
}

// TestWorkflowStarts checks when a workflow starts. A write must start a workflow. A read, or a run
// that cannot use its session, must not start a workflow.
func TestWorkflowStarts(t *testing.T) {
	f := open(t)
	f.want(in("w1", ann), abi.GetFact, `"workflow.case"`, `null`)
	if _, err := f.Workflows().Get(t.Context(), in("w1", ann)); abi.FaultOf(err).Code != abi.NotFound {
		t.Errorf("Get after a read = %v; want not_found", err)
	}
	f.want(bob, abi.SetFact, `"user.a", 1`, `{`)
	f.want(in("w1", as("ann", "s2")), abi.SetFact, `"user.a", 1`, `access_denied: the session belongs to another user`)
	if _, err := f.Workflows().Get(t.Context(), in("w1", ann)); abi.FaultOf(err).Code != abi.NotFound {
		t.Errorf("Get after a rejected run = %v; want not_found", err)
	}
	f.want(in("w1", as("", "")), abi.SetFact, `"project.a", 1`, `{`)
	f.want(in("w1", ann), abi.SetFact, `"user.a", 1`, `{`) // binds the anonymous workflow
	got, err := f.Workflows().Get(t.Context(), in("w1", ann))
	if want := (session.Workflow{ID: "w1", User: "ann", Started: f.now, Used: f.now}); err != nil || got != want {
		t.Errorf("Get = %+v, %v; want %+v", got, err, want)
	}
}

// TestWorkflowEnds checks that the facts of an ended workflow are removed. The facts must become
// invisible immediately, even in lists that began before the end. For 30 days, the id of the
// workflow must be rejected.
func TestWorkflowEnds(t *testing.T) {
	f, ctx := open(t), t.Context()
	w1 := in("w1", as("ann", ""))
	f.want(w1, abi.SetFact, `"workflow.case", 1`, `{`)
	f.want(w1, abi.SetFact, `"user.a", 1`, `{`)
	ended, err := f.Workflows().End(ctx, w1)
	if err != nil || ended.Ended == nil || !ended.Ended.Equal(f.now) {
		t.Fatalf("End = %+v, %v", ended, err)
	}
	if _, err := f.Workflows().End(ctx, w1); err != nil {
		t.Errorf("a second End = %v", err)
	}
	if _, err := f.Workflows().End(ctx, in("w1", bob)); abi.FaultOf(err).Code != abi.AccessDenied {
		t.Errorf("End by another user = %v; want access_denied", err)
	}
	for _, r := range f.records() {
		if strings.Contains(string(r.Key), "case") {
			t.Errorf("after End the backend contains %s", r.Key)
		}
	}
	f.want(ann, abi.GetFact, `"user.a"`, `1`)
	f.now = f.now.Add(30*24*time.Hour - time.Minute)
	f.want(w1, abi.GetFact, `"workflow.case"`, `workflow_ended: `)
	f.now = f.now.Add(2 * time.Hour)
	if _, err := f.Sweep(ctx, "acme", 100); err != nil {
		t.Fatal(err)
	}
	f.want(w1, abi.GetFact, `"workflow.case"`, `null`)
}

// TestWorkflowIdle checks that an unused workflow ends, and that a sweep removes its facts.
func TestWorkflowIdle(t *testing.T) {
	f, ctx := open(t), t.Context()
	f.want(in("w1", as("ann", "")), abi.SetFact, `"workflow.case", 1`, `{`)
	f.now = f.now.Add(24 * time.Hour)
	f.want(in("w1", as("ann", "")), abi.SetFact, `"user.a", 1`, `{`) // this write uses the workflow
	f.now = f.now.Add(27*time.Hour - time.Second)
	f.want(in("w1", as("ann", "")), abi.GetFact, `"workflow.case"`, `1`)
	f.now = f.now.Add(time.Second)
	f.want(in("w1", as("ann", "")), abi.GetFact, `"workflow.case"`, `workflow_ended: `)
	if infos, _, err := f.List(ctx, partition.Caller{Tenant: "acme"}, declare.Facts, "", 10); err != nil || len(infos) != 1 {
		t.Errorf("List = %+v, %v; want only user.a", infos, err)
	}
	f.now = f.now.Add(2 * time.Hour)
	if err := f.SweepTenant(ctx, "acme"); err != nil {
		t.Fatal(err)
	}
	if infos, err := f.Audit(ctx, "acme"); err != nil || infos[0].Records != 1 {
		t.Errorf("Audit after a sweep = %+v, %v; want one record", infos, err)
	}
}

// TestWorkflowEndsDuringRun ends the workflow of a run before the run commits. The commit must
// fail.
func TestWorkflowEndsDuringRun(t *testing.T) {
	f := open(t)
	w1 := in("w1", ann)
	_, err := f.Transact(t.Context(), &memory.Tx{Caller: w1, Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
		if _, err := f.Workflows().End(ctx, w1); err != nil {
			t.Fatal(err)
		}
		_, err := v.Call(ctx, abi.Call{Op: abi.SetFact, Args: []json.RawMessage{json.RawMessage(`"user.n"`), json.RawMessage(`2`)}})
		return err
	})
	if abi.FaultOf(err).Code != abi.WorkflowEnded {
		t.Errorf("Transact = %v; want workflow_ended", err)
	}
	f.want(ann, abi.GetFact, `"user.n"`, `null`)
}

// TestWorkflowOfUser checks the export and the erasure of a user. The export and the erasure must
// include the facts of the user's workflows. An anonymous session may have written such a fact
// before the workflow was bound to the user.
func TestWorkflowOfUser(t *testing.T) {
	f, ctx := open(t), t.Context()
	f.want(in("w1", as("", "visit")), abi.SetFact, `"workflow.early", 1`, `{`)
	f.want(in("w1", as("", "")), abi.SetFact, `"workflow.plain", 2`, `{`)
	f.want(in("w1", ann), abi.SetFact, `"workflow.late", 3`, `{`)
	f.want(in("w2", bob), abi.SetFact, `"workflow.other", 4`, `{`)
	for _, r := range f.records() {
		if r.Key.Part(storage.Workflow) == "w1" && r.Key.Part(storage.Store) != "" && !slices.Contains(r.Tags, "workflow/w1") {
			t.Errorf("%s has the tags %q", r.Key, r.Tags)
		}
	}
	data, err := f.UserData(ctx, ann)
	if err != nil {
		t.Fatal(err)
	}
	var exported, ids []string
	if err := data.Records(ctx, func(r memory.UserRecord) error { exported = append(exported, r.Workflow+" "+r.Item); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := data.Workflows(ctx, func(w session.Workflow) error { ids = append(ids, w.ID); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(exported)
	if want := []string{"w1 workflow.early", "w1 workflow.late", "w1 workflow.plain"}; !slices.Equal(exported, want) || !slices.Equal(ids, []string{"w1"}) {
		t.Errorf("the export has %q of %q; want %q", exported, ids, want)
	}
	erased, err := f.Erase(ctx, ann)
	if err != nil || erased.Stores[declare.Facts] != 3 || erased.Workflows != 1 {
		t.Errorf("Erase = %+v, %v; want 3 facts and a workflow", erased, err)
	}
	for _, r := range f.records() {
		if strings.Contains(string(r.Content), "ann") || slices.Contains(r.Tags, storage.SubjectTag("ann")) {
			t.Errorf("the erasure leaves %s %s", r.Key, r.Content)
		}
	}
	f.want(in("w1", as("ann", "")), abi.GetFact, `"workflow.late"`, `workflow_ended: `)
	f.want(in("w2", bob), abi.GetFact, `"workflow.other"`, `4`)
}

// TestWorkflowQuota checks that each anonymous workflow has a separate quota.
func TestWorkflowQuota(t *testing.T) {
	f := openWith(t, func(cfg *memory.Config) { cfg.Limits.UserRecords = 2 })
	c := in("w1", as("", ""))
	for _, n := range []string{"a", "b"} {
		f.want(c, abi.SetFact, `"workflow.`+n+`", 1`, `{`)
	}
	f.want(c, abi.SetFact, `"workflow.c", 1`, `quota_exceeded: `)
	f.want(in("w2", as("", "")), abi.SetFact, `"workflow.c", 1`, `{`)
}

// TestWorkflowList checks lists of the workflows of one user and of all users. The lists must
// contain only open workflows.
func TestWorkflowList(t *testing.T) {
	f, ctx := open(t), t.Context()
	for _, id := range []string{"w1", "w2", "w3"} {
		f.want(in(id, as("ann", "")), abi.SetFact, `"user.a", 1`, `{`)
	}
	f.want(in("w4", as("bob", "")), abi.SetFact, `"user.a", 1`, `{`)
	if _, err := f.Workflows().End(ctx, in("w2", ann)); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]string{"ann": "w1 w3", "bob": "w4", "": "w1 w2 w3 w4"} {
		var got []string
		for after := ""; ; {
			page, next, err := f.Workflows().List(ctx, partition.Caller{Tenant: "acme", User: user}, after, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range page {
				got = append(got, w.ID)
			}
			if after = next; next == "" {
				break
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("the list of %q has %q; want %s", user, got, want)
		}
	}
}
