package host

import (
	"testing"
	"time"
)

// A confined caller can shorten the time limit of a run, but cannot raise the limit.
func TestConfinedTimeout(t *testing.T) {
	for _, test := range []struct {
		confined        bool
		requested, tool time.Duration
		want            time.Duration
	}{
		{false, 0, 0, 5 * time.Second},
		{false, time.Minute, 0, time.Minute},
		{true, time.Minute, 0, 5 * time.Second},
		{true, time.Second, 0, time.Second},
		{true, time.Minute, 20 * time.Second, 20 * time.Second},
		{true, 10 * time.Second, 20 * time.Second, 10 * time.Second},
	} {
		r := &run{job: job{h: &Host{limits: Limits{}.withDefaults()}}, tool: &tool{}}
		r.inv.Caller.Confined, r.inv.Timeout, r.tool.Limits.Timeout = test.confined, test.requested, test.tool
		if got := r.timeLimit(); got != test.want {
			t.Errorf("the time limit for a caller (confined %t) with timeout %v of a tool with %v is %v; want %v", test.confined, test.requested, test.tool, got, test.want)
		}
	}
}
