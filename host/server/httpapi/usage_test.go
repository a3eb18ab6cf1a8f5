package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// TestUsage reads the usage of one tenant. With the role metering, the test also reads the usage of
// all tenants.
func TestUsage(t *testing.T) {
	s := newService(t)
	for range 2 {
		s.want(200, "runtime", "POST", "/api/v1/runs", `{"tool":"look","user_id":"ann","session_id":"s1"}`)
	}
	s.want(200, "elsewhere", "POST", "/api/v1/runs", `{"tool":"look","user_id":"ann","session_id":"s1"}`)
	usage := func(who, query string) (found []apitypes.AppUsage, next string) {
		t.Helper()
		var page apitypes.List[apitypes.AppUsage]
		s.want(200, who, "GET", "/api/v1/usage"+query, "").into(t, &page)
		return page.Items, page.Next
	}
	if found, _ := usage("elsewhere", ""); len(found) != 1 || found[0].Tenant != "other" || found[0].Runs != 1 || found[0].StoredBytes == 0 {
		t.Errorf("usage of the other tenant = %+v; want a run and its storage", found)
	}
	for _, who := range []string{"operator", "read-only", "one app"} {
		if found, _ := usage(who, ""); len(found) != 1 || found[0].Tenant != "acme" || found[0].App != "shop" || found[0].Runs != 2 {
			t.Errorf("usage as %s = %+v; want two runs of acme", who, found)
		}
	}
	if found, _ := usage("no app", ""); len(found) != 0 {
		t.Errorf("usage with a key for another app = %+v; want none", found)
	}
	first, next := usage("metering", "?limit=1")
	second, end := usage("metering", "?limit=1&after="+next)
	if len(first) != 1 || len(second) != 1 || first[0].Tenant != "acme" || second[0].Tenant != "other" || end != "" {
		t.Errorf("pages of all tenants = %+v, %+v, %q; want acme, other", first, second, end)
	}
	tomorrow := time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	if found, _ := usage("operator", "?since="+tomorrow); len(found) != 1 || found[0].Runs != 0 {
		t.Errorf("usage from tomorrow on = %+v; want no runs", found)
	}
	if r := s.ask("operator", "GET", "/api/v1/usage?since=yesterday", ""); r.StatusCode != 400 || !contains(r, "2006-01-02") {
		t.Errorf("a bad day = %s; want 400 and the form of a date", r)
	}
	if r := s.ask("operator", "GET", "/api/v1/usage?after=x", ""); r.StatusCode != 400 {
		t.Errorf("a bad after = %s; want 400", r)
	}
	if r := s.ask("no app", "GET", "/api/v1/usage?app=shop", ""); r.StatusCode != 404 {
		t.Errorf("usage of an app that the key may not use = %s; want 404", r)
	}
	for _, who := range []string{"runtime", "backup", "ann"} {
		if r := s.ask(who, "GET", "/api/v1/usage", ""); r.StatusCode != 403 || strings.Contains(string(r.body), "stored_bytes") {
			t.Errorf("usage as %s = %s; want 403", who, r)
		}
	}
	for _, path := range []string{"/api/v1/tools", "/api/v1/ledger", "/api/v1/sessions", "/api/v1/backup"} {
		if r := s.ask("metering", "GET", path, ""); r.StatusCode != 403 {
			t.Errorf("%s with a key of role metering = %s; want 403", path, r)
		}
	}
}
