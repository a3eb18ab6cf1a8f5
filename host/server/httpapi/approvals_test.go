package httpapi_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/server/tenants"
)

var gatedShop = fstest.MapFS{
	"app.yaml": {Data: []byte(`app: shop
memory:
  orders: {access: user}
tools:
  order: {source: order.js, description: d, grants: {orders: readwrite}, approval: {before: [set_content]}}
  own: {source: order.js, description: d, grants: {orders: readwrite}, approval: {before: [set_content], by: user}}
`)},
	"order.js": {Data: []byte(`await memory.set_content("orders", {item: input.item}); return input.item`)},
}

// pause runs a tool for "ann", and expects that the run pauses.
func (s *service) pause(tool string) *report.PendingApproval {
	s.t.Helper()
	var result report.Result
	s.want(200, "ann", "POST", "/api/v1/runs", `{"tool":"`+tool+`","input":{"item":"tea"}}`).into(s.t, &result)
	if result.Status != report.Paused || result.OK || result.Approval == nil {
		s.t.Fatalf("the Result is %+v; want a paused run", result)
	}
	return result.Approval
}

func TestApprovals(t *testing.T) {
	s := newServiceWith(t, gatedShop, func(*tenants.Options) {})
	pending, own := s.pause("order"), s.pause("own")
	const all = "/api/v1/approvals"
	path := all + "/" + pending.Token
	for _, who := range []string{"bob", "elsewhere", "claimed"} {
		if p := s.problem(404, who, "GET", path, ""); p.Code != "not_found" || strings.Contains(p.Detail, pending.Token) {
			t.Errorf("the problem for %s is %+v", who, p)
		}
		s.want(404, who, "POST", path, `{"decision":"approve"}`)
		s.want(404, who, "POST", path, `{"decision":"deny"}`)
		if r := s.want(200, who, "GET", all, ""); !contains(r, `"items":[]`) {
			t.Errorf("the list for %s is %s", who, r)
		}
	}
	for _, who := range []string{"runtime", "read-only", "backup"} {
		s.want(403, who, "POST", path, `{"decision":"approve"}`)
		s.want(403, who, "GET", all, "")
	}
	s.want(403, "ann", "POST", path, `{"decision":"approve"}`) // the user cannot approve the effects of this tool
	s.want(422, "operator", "POST", path, `{"decision":"maybe"}`)
	s.want(400, "operator", "POST", path, `{"decision":"approve","reason":"why not"}`)

	var list apitypes.List[apitypes.Approval]
	s.want(200, "operator", "GET", all+"?user_id=ann", "").into(t, &list)
	if len(list.Items) != 2 || list.Items[0].Token != pending.Token || list.Items[0].State != "pending" || !list.Items[1].ByUser || !strings.Contains(string(list.Items[0].Effect.Arguments), "tea") {
		t.Errorf("the list is %+v", list.Items)
	}
	s.want(200, "approver", "GET", all, "").into(t, &list)
	if len(list.Items) != 2 {
		t.Errorf("the list for an approver is %+v", list.Items)
	}
	s.want(403, "approver", "POST", "/api/v1/runs", `{"tool":"order"}`)
	s.want(403, "approver", "GET", "/api/v1/ledger", "")
	var result report.Result
	s.want(200, "approver", "POST", path, `{"decision":"approve"}`).into(t, &result)
	if result.Status != report.Completed || string(result.Output) != `"tea"` || result.RunID != list.Items[0].RunID {
		t.Errorf("the Result is %+v", result)
	}
	s.want(409, "operator", "POST", path, `{"decision":"approve"}`)
	var found apitypes.Approval
	s.want(200, "operator", "GET", path, "").into(t, &found)
	if found.State != "approved" || found.By != "boss" || found.Effect.Arguments != nil {
		t.Errorf("the approval is %+v", found)
	}

	s.want(200, "ann", "POST", all+"/"+own.Token, `{"decision":"deny","reason":"changed my mind"}`).into(t, &result)
	if result.Status != report.Failed || result.Error.Code != "access_denied" || !strings.Contains(result.Error.Message, "changed my mind") {
		t.Errorf("the denied Result is %+v", result)
	}
	s.want(200, "operator", "GET", all+"?all=true", "").into(t, &list)
	if len(list.Items) != 2 || list.Items[1].State != "denied" {
		t.Errorf("the whole list is %+v", list.Items)
	}
	if r := s.want(200, "operator", "GET", "/api/v1/ledger", ""); !contains(r, `"act":"approve"`) || !contains(r, `"act":"deny"`) || !contains(r, `"act":"request_approval"`) {
		t.Errorf("the ledger is %s", r)
	}
}
