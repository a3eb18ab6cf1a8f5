package tenants

import (
	"context"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

// SleepWatcher is an interface for following the runs of sleep-time memory of all apps and tenants. The
// methods are called on the goroutines of runs, so calls are concurrent. Methods must return quickly.
type SleepWatcher interface {
	// SleepBegan is called when a run begins.
	SleepBegan(run host.RunInfo)
	// SleepEnded is called once when a run has ended, even if the run failed. The argument "result"
	// is the Result of the run.
	SleepEnded(run host.RunInfo, result *report.Result)
}

// WatchSleep sets the SleepWatcher, and replaces an earlier SleepWatcher. The SleepWatcher receives
// the runs that begin after the call of WatchSleep.
func (a *Apps) WatchSleep(w SleepWatcher) { a.sleepWatcher.Store(&w) }

// sleepObserver passes the runs of sleep-time memory to the SleepWatcher.
type sleepObserver struct {
	host.NopObserver
	apps *Apps
}

// BeforeRun implements host.Observer. BeforeRun refuses nothing.
func (o sleepObserver) BeforeRun(_ context.Context, run host.RunInfo) error {
	if w := o.apps.sleepWatcher.Load(); w != nil && run.Sleep {
		(*w).SleepBegan(run)
	}
	return nil
}

// RunEnded implements host.Observer.
func (o sleepObserver) RunEnded(_ context.Context, run host.RunInfo, result *report.Result) {
	if w := o.apps.sleepWatcher.Load(); w != nil && run.Sleep {
		(*w).SleepEnded(run, result)
	}
}
