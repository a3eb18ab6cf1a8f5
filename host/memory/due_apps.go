package memory

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// DueApp identifies an app of a tenant. The queue of the app contains a run that is due.
type DueApp struct {
	Tenant, App string
	// Before is a key that precedes the app in the queue. To find the app again, pass Before as the
	// argument "after" of DueApps.
	Before storage.Key
}

// DueApps returns the apps whose queue contains a run that is due at the time "at". DueApps omits
// paused apps. The search begins after the key "after". DueApps examines at most "limit" apps. The
// result "next" is the key after which the next call continues, or "" after the last app. DueApps
// reads from the backend once or twice for each app.
func DueApps(ctx context.Context, backend storage.Backend, at time.Time, after storage.Key, limit int) (due []DueApp, next storage.Key, err error) {
	prefix := storage.MakeKey(storage.Part{Tag: storage.System, Value: partition.SleepDue})
	for range limit {
		first, err := backend.Heads(ctx, prefix, after, 1)
		if err != nil || len(first) == 0 {
			return due, "", err
		}
		before, key := after, first[0].Key
		app, c := partition.App(key.Part(storage.App)), partition.Caller{Tenant: key.Tenant()}
		after = app.System(partition.SleepDue, c) + "\xff" // after all records of this tenant and app
		if time, _, ok := partition.DueOf(key); !ok || time.After(at) {
			continue
		}
		paused, err := backend.Get(ctx, app.System(partition.SleepPaused, c))
		if err != nil {
			return due, "", err
		}
		if !paused[0].Exists() {
			due = append(due, DueApp{c.Tenant, string(app), before})
		}
	}
	return due, after, nil
}
