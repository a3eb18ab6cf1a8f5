package temporal

import (
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/workflow"

	"github.com/toolrun/toolrun/abi"
)

// Only a retry has the same key as the first attempt.
func TestKey(t *testing.T) {
	info := activity.Info{Namespace: "n", WorkflowExecution: workflow.Execution{ID: "w", RunID: "r"}, ActivityID: "1", Attempt: 1}
	first := key(info)
	info.Attempt, info.StartedTime = 2, time.Now()
	if got := key(info); got != first {
		t.Errorf("key of the second attempt = %s; want %s", got, first)
	}
	seen := map[string]bool{first: true}
	for _, other := range []func(*activity.Info){
		func(i *activity.Info) { i.Namespace = "m" },
		func(i *activity.Info) { i.WorkflowExecution.ID = "v" },
		func(i *activity.Info) { i.WorkflowExecution.RunID = "s" },
		func(i *activity.Info) { i.ActivityID = "2" },
		func(i *activity.Info) { i.ActivityRunID = "a" },
		func(i *activity.Info) { i.WorkflowExecution = workflow.Execution{ID: "wr"} },
		func(i *activity.Info) { i.WorkflowExecution.ID = strings.Repeat("w", 1000) },
	} {
		changed := info
		other(&changed)
		k := key(changed)
		if seen[k] || len(k) > 200 {
			t.Errorf("key(%+v) = %s; want a short, different one", changed, k)
		}
		seen[k] = true
	}
}

// The tool gets less time than the activity, so the tool's fault is reported before the activity
// times out.
func TestTimeLeft(t *testing.T) {
	for _, tt := range []struct{ until, most, least time.Duration }{
		{time.Second, 900 * time.Millisecond, 1}, {time.Hour, time.Hour - time.Second, 59 * time.Minute},
	} {
		got, err := timeLeft(activity.Info{Deadline: time.Now().Add(tt.until)})
		if err != nil || got > tt.most || got < tt.least {
			t.Errorf("timeLeft, %v before the deadline = %v, %v; want at most %v", tt.until, got, err, tt.most)
		}
	}
	if got, err := timeLeft(activity.Info{}); got != 0 || err != nil {
		t.Errorf("timeLeft without a deadline = %v, %v; want 0", got, err)
	}
	if _, err := timeLeft(activity.Info{Deadline: time.Now().Add(-time.Second)}); abi.FaultOf(err).Code != abi.Timeout {
		t.Errorf("timeLeft after the deadline = %v; want timeout", err)
	}
}
