package httpapi_test

import (
	"testing"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// TestWorkflows expects runs of several sessions to share the facts of a workflow until the
// workflow ends.
func TestWorkflows(t *testing.T) {
	s := newService(t)
	step := func(who string, status int, body string) reply {
		t.Helper()
		return s.want(status, who, "POST", "/api/v1/runs", `{"tool":"step",`+body+`}`)
	}
	step("runtime", 200, `"user_id":"ann","session_id":"s1","workflow_id":"order"`)
	if r := step("runtime", 200, `"session_id":"s2","workflow_id":"order"`); !contains(r, `"output":2`) {
		t.Errorf("a run with only a workflow id = %s; want 2", r)
	}
	if r := step("runtime", 200, `"user_id":"ann","session_id":"s1"`); !contains(r, `"output":1`) {
		t.Errorf("a run outside of the workflow = %s; want 1", r)
	}
	if p := s.problem(403, "runtime", "POST", "/api/v1/runs", `{"tool":"step","user_id":"bob","workflow_id":"order"}`); p.Code != "access_denied" {
		t.Errorf("a run of another user = %+v", p)
	}
	if p := s.problem(400, "runtime", "GET", "/api/v1/workflows/a%20b", ""); p.Code != "invalid_argument" {
		t.Errorf("an invalid id = %+v", p)
	}
	var list apitypes.List[apitypes.Workflow]
	s.want(200, "read-only", "GET", "/api/v1/workflows?user_id=ann", "").into(t, &list)
	if len(list.Items) != 1 || list.Items[0].ID != "order" || list.Items[0].User != "ann" {
		t.Errorf("the list has %+v", list)
	}
	var entries apitypes.List[apitypes.LedgerEntry]
	s.want(200, "operator", "GET", "/api/v1/facts/workflow.step?workflow_id=order", "").into(t, &struct{}{})
	s.want(200, "operator", "GET", "/api/v1/ledger?workflow_id=order", "").into(t, &entries)
	for _, e := range entries.Items {
		if e.Workflow != "order" {
			t.Errorf("the ledger has %+v", e)
		}
	}
	if r := s.want(200, "operator", "POST", "/api/v1/workflows/order/end", ""); !contains(r, `"ended":"`) {
		t.Errorf("the ended workflow is %s", r)
	}
	s.want(200, "operator", "POST", "/api/v1/workflows/order/end", "")
	if p := s.problem(410, "runtime", "POST", "/api/v1/runs", `{"tool":"step","user_id":"ann","workflow_id":"order"}`); p.Code != "workflow_ended" {
		t.Errorf("a run in an ended workflow = %+v", p)
	}
	if p := s.problem(400, "operator", "GET", "/api/v1/facts/workflow.step?user_id=ann", ""); p.Code != "no_workflow" || p.Hint == "" || p.Item != "workflow.step" {
		t.Errorf("a fact without a workflow = %+v", p)
	}
}

// TestWorkflowClaim checks that the token of an end user gives access to only one workflow, which
// is the workflow in the token's claim.
func TestWorkflowClaim(t *testing.T) {
	s := newService(t)
	run := func(member string) string { return `{"tool":"step"` + member + `}` }
	if r := s.want(200, "flowing", "POST", "/api/v1/runs", run("")); !contains(r, `"output":1`) {
		t.Errorf("the first run = %s", r)
	}
	if r := s.want(200, "flowing", "POST", "/api/v1/runs", run(`,"workflow_id":"trip"`)); !contains(r, `"output":2`) {
		t.Errorf("the second run = %s", r)
	}
	for who, member := range map[string]string{"flowing": `,"workflow_id":"other"`, "ann": `,"workflow_id":"trip"`} {
		if p := s.problem(403, who, "POST", "/api/v1/runs", run(member)); p.Code != "access_denied" {
			t.Errorf("a run of %s in another workflow = %+v", who, p)
		}
	}
	if r := s.want(200, "flowing", "GET", "/api/v1/workflows", ""); !contains(r, `"workflow_id":"trip"`) {
		t.Errorf("the list = %s", r)
	}
	if r := s.want(200, "flowing", "GET", "/api/v1/whoami", ""); !contains(r, `"workflow_id":"trip"`) {
		t.Errorf("whoami = %s", r)
	}
	s.want(403, "flowing", "POST", "/api/v1/workflows/other/end", "")
	s.want(200, "flowing", "POST", "/api/v1/workflows/trip/end", "")
}
