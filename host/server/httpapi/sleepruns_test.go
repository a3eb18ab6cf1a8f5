package httpapi_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/server/tenants"
)

// sleepyFiles is an app with a sleep tool that always fails.
var sleepyFiles = fstest.MapFS{
	"app.yaml": {Data: []byte("app: shop\nblocks: true\nsleep: {tool: dream}\ntools: {dream: {source: dream.js}}\n")},
	"dream.js": {Data: []byte(`if (input.transcript[0].content === "hello") console.log("private"); throw new Error("cannot read " + input.transcript[0].content)`)},
}

// sleepy returns a service with sleep-time memory. The test advances the clock of the service, and
// runs begin soon after they are due.
func sleepy(t *testing.T) (s *service, advance func(time.Duration)) {
	t.Helper()
	var mu sync.Mutex
	at := time.Now()
	s = newServiceWith(t, sleepyFiles, func(o *tenants.Options) {
		o.SleepEvery = 5 * time.Millisecond
		o.Host.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return at
		}
	})
	return s, func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(d)
	}
}

// awaitSleep waits until the state of sleep-time memory fulfills a condition.
func (s *service) awaitSleep(condition func(apitypes.SleepStatus) bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for {
		var status apitypes.SleepStatus
		s.want(200, "operator", "GET", "/api/v1/sleep", "").into(s.t, &status)
		if condition(status) {
			return
		}
		select {
		case <-ctx.Done():
			s.t.Fatalf("the state is %+v", status)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// sleepRuns returns the ids of the runs of sleep-time memory in the ledger.
func (s *service) sleepRuns() (ids []string) {
	s.t.Helper()
	var page apitypes.List[apitypes.LedgerEntry]
	s.want(200, "operator", "GET", "/api/v1/ledger?failed=true", "").into(s.t, &page)
	for _, e := range page.Items {
		if e.Act == "sleep" {
			ids = append(ids, e.Run)
		}
	}
	return ids
}

// TestSleepRunByID requests a failed run by its id. Operators of the tenant receive the run,
// including its message and its logs. Other callers cannot find the run, and an erasure of the user
// removes the run.
func TestSleepRunByID(t *testing.T) {
	s, advance := sleepy(t)
	s.want(200, "runtime", "POST", "/api/v1/sessions/s1/messages", `{"user_id":"ann","messages":[{"role":"user","content":"hello"}]}`)
	advance(time.Hour)
	s.awaitSleep(func(status apitypes.SleepStatus) bool { return status.Failed == 1 })
	ids := s.sleepRuns()
	for len(ids) == 0 { // the ledger is written soon after the run
		ids = s.sleepRuns()
	}
	path := "/api/v1/runs/" + ids[0]
	var run apitypes.Run
	s.want(200, "operator", "GET", path, "").into(t, &run)
	if run.Status != "done" || run.Tool != "dream" || run.User != "ann" || run.Result == nil || run.Result.Error == nil {
		t.Fatalf("the run is %+v", run)
	}
	if !strings.Contains(run.Result.Error.Message, "cannot read hello") || len(run.Result.Logs) != 1 {
		t.Errorf("the result is %+v; want the message and the log", run.Result)
	}
	s.want(200, "operator", "POST", path+"/cancel", "") // has no effect
	for _, who := range []string{"elsewhere", "runtime", "ann"} {
		s.want(404, who, "GET", path, "")
	}
	s.want(200, "operator", "DELETE", "/api/v1/users/ann", "")
	s.want(404, "operator", "GET", path, "")
}

// TestSleepRetry retries a failed run. The retry must begin without the usual delay.
func TestSleepRetry(t *testing.T) {
	s, advance := sleepy(t)
	s.want(200, "runtime", "POST", "/api/v1/sessions/s1/messages", `{"user_id":"ann","messages":[{"role":"user","content":"quiet"}]}`)
	advance(time.Hour)
	s.awaitSleep(func(status apitypes.SleepStatus) bool { return status.Failed == 1 && status.Running == 0 })
	s.want(403, "read-only", "POST", "/api/v1/sleep/retry", "")
	s.want(403, "ann", "POST", "/api/v1/sleep/retry", "")
	s.want(200, "operator", "POST", "/api/v1/sleep/retry", "")
	for len(s.sleepRuns()) < 2 {
		s.awaitSleep(func(status apitypes.SleepStatus) bool { return status.Failed == 1 && status.Running == 0 })
	}
	if r := s.want(200, "operator", "GET", "/api/v1/runs/"+s.sleepRuns()[1], ""); !contains(r, `"logs":[]`) {
		t.Errorf("the run is %s; want an empty list of logs", r)
	}
}
