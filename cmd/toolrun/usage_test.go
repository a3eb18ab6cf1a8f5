package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// get sends a GET request without credentials. get does not follow redirects.
func (s *serving) get(t *testing.T, path string) (*http.Response, string) {
	t.Helper()
	web := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := web.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

// TestUsageOfService checks that the metrics and the usage contain the runs of a service. After a
// restart, the usage must still contain them.
func TestUsageOfService(t *testing.T) {
	binary, dir := buildToolrun(t), t.TempDir()
	writeFiles(t, dir, countApp)
	keys, secret := makeKeys(t, binary, dir)
	db := filepath.Join(dir, "memory.db")
	s := startServe(t, binary, filepath.Join(dir, "app.yaml"), "--keys", keys, "--db", db, "--metrics-tenants", "5", "--linger", "0s")
	for _, key := range []string{"a", "a", "b"} {
		var result struct{ OK bool }
		status, err := s.post(t.Context(), secret, "/api/v1/runs", `{"tool":"count","user_id":"ann"}`, map[string]string{"Idempotency-Key": key}, &result)
		if err != nil || status != http.StatusOK || !result.OK {
			t.Fatalf("a run = %d, %v, %v", status, result, err)
		}
	}
	if response, _ := s.get(t, "/"); response.StatusCode != http.StatusFound || response.Header.Get("Location") != "/docs" {
		t.Errorf("/ = %s, %q; want a redirect to /docs", response.Status, response.Header.Get("Location"))
	}
	_, metrics := s.get(t, "/metrics")
	for _, line := range []string{
		"toolrun_database_records 1\n", "toolrun_open_apps 1\n", "toolrun_runs_waiting 0\n", "toolrun_index_limit_bytes 5.36870912e+08\n", "toolrun_searches_total 0\n", "toolrun_workers_busy ", "toolrun_workers_idle ", "toolrun_workers_spare ",
		`toolrun_tenant_runs_total{outcome="executed",tenant="default"} 2`, `toolrun_tenant_runs_total{outcome="repeated",tenant="default"} 1`,
		`toolrun_tenant_runs_in_progress{tenant="default"} 0`, "toolrun_database_file_bytes ", "toolrun_database_bytes ", "toolrun_database_disk_free_bytes ", "toolrun_database_commit_work_max_seconds ",
	} {
		if !strings.Contains(metrics, "\n"+line) {
			t.Errorf("the metrics have no line %q", line)
		}
	}
	usage := func(args ...string) (found []struct {
		Tenant, App    string
		Runs, Repeated int
		Stored         int `json:"stored_records"`
	}) {
		t.Helper()
		cmd := exec.Command(binary, append([]string{"usage", "--json"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TOOLRUN_KEY="+secret)
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &found)
		}
		if err != nil || len(found) != 1 {
			t.Fatalf("toolrun usage %v = %s, %v; want one app", args, out, err)
		}
		return found
	}
	if got := usage("--server", s.url)[0]; got.Tenant != "default" || got.App != "count" || got.Runs != 2 || got.Repeated != 1 || got.Stored != 1 {
		t.Errorf("the usage = %+v; want two runs, one repeated, a record", got)
	}
	if got := usage("--server", s.url, "--until", time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly))[0]; got.Runs != 0 {
		t.Errorf("the usage until yesterday = %+v; want no runs", got)
	}
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Skip("this system has no signals: ", err)
	}
	_ = s.cmd.Wait()
	if got := usage("--db", db)[0]; got.Runs != 2 || got.Repeated != 1 {
		t.Errorf("the usage after the service stopped = %+v; want the same", got)
	}
	if log := s.stderr.String(); !strings.Contains(log, `"tenant":"default","app":"count","tool":"count","code":"ok","outcome":"executed"`) || !strings.Contains(log, `"actor":"test"`) {
		t.Errorf("the log does not contain the tenant and the actor:\n%s", log)
	}
}
