package httpapi

import (
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/server/tenants"
)

// sleepRuns adds the runs of sleep-time memory to a registry. No request has started the runs of
// sleep-time memory, so only operators can find these runs.
type sleepRuns struct{ runs *registry }

var _ tenants.SleepWatcher = sleepRuns{}

// SleepBegan implements tenants.SleepWatcher.
func (s sleepRuns) SleepBegan(run host.RunInfo) {
	s.runs.enter(run.ID, host.RunRunning, func() *trackedRun {
		return &trackedRun{
			Run: apitypes.Run{Tool: run.Tool, User: run.Caller.User}, app: run.App, owner: identity{tenant: run.Caller.Tenant},
		}
	})
}

// SleepEnded implements tenants.SleepWatcher.
func (s sleepRuns) SleepEnded(run host.RunInfo, result *report.Result) { s.runs.end(run.ID, result) }
