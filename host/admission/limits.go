package admission

import (
	"errors"
	"fmt"
	"runtime"
)

// Limits bounds the runs that execute and wait. If a field is 0, the default that the comment of
// the field describes applies. New rejects negative values.
type Limits struct {
	// Running bounds the concurrent runs. The default is 2 for each processor that Go uses. Guests
	// use the processor all the time, so if there were more guests, each guest would be slower.
	Running int
	// PerTenant bounds the concurrent runs of one tenant. The default is three quarters of Running.
	// If PerApp is higher than this, the default is PerApp.
	PerTenant int
	// PerApp bounds the concurrent runs of one app of a tenant. The default is three quarters of the
	// default of PerTenant, so that the tenant's other apps can run.
	PerApp int
	// PerUser bounds the concurrent runs of one user. PerUser does not apply to runs without a
	// user. The default is half of PerApp.
	PerUser int
	// Waiting bounds the total number of waiting runs. WaitingPerTenant, WaitingPerApp and
	// WaitingPerUser bound the waiting runs of one tenant, of one app of a tenant, and of one known
	// user. The default is 10,000 for Waiting, 2,500 for WaitingPerTenant, 1,000 for WaitingPerApp,
	// and an eighth of WaitingPerApp for WaitingPerUser.
	Waiting          int
	WaitingPerTenant int
	WaitingPerApp    int
	WaitingPerUser   int
	// Parked bounds the total number of parked runs. A parked run was admitted and waits for
	// something outside of the host, such as the answer of a model. A parked run does not count as
	// a running run, but it occupies memory. ParkedPerTenant, ParkedPerApp and ParkedPerUser bound
	// the parked runs of one tenant, of one app of a tenant, and of one known user. The default is
	// 64 for Parked, three quarters of Parked for ParkedPerTenant, three quarters of
	// ParkedPerTenant for ParkedPerApp, and half of ParkedPerApp for ParkedPerUser.
	Parked          int
	ParkedPerTenant int
	ParkedPerApp    int
	ParkedPerUser   int
}

func (l Limits) check() error {
	var errs []error
	for _, field := range []struct {
		name  string
		value int
	}{
		{"Running", l.Running}, {"PerTenant", l.PerTenant}, {"PerApp", l.PerApp}, {"PerUser", l.PerUser}, {"Waiting", l.Waiting},
		{"WaitingPerTenant", l.WaitingPerTenant}, {"WaitingPerApp", l.WaitingPerApp}, {"WaitingPerUser", l.WaitingPerUser},
		{"Parked", l.Parked}, {"ParkedPerTenant", l.ParkedPerTenant}, {"ParkedPerApp", l.ParkedPerApp}, {"ParkedPerUser", l.ParkedPerUser},
	} {
		if field.value < 0 {
			errs = append(errs, fmt.Errorf("admission: Limits.%s is negative; 0 means the default", field.name))
		}
	}
	return errors.Join(errs...)
}

// OneApp returns the limits of a gate that serves only one app. With these limits, the app can use
// all slots of its tenant.
func OneApp() Limits { return Limits{PerApp: tenantShare(defaultRunning())} }

func defaultRunning() int { return 2 * runtime.GOMAXPROCS(0) }

// tenantShare returns the default of PerTenant.
func tenantShare(running int) int { return max(1, running*3/4) }

func (l Limits) withDefaults() Limits {
	setDefault(&l.Running, defaultRunning())
	tenant := tenantShare(l.Running)
	setDefault(&l.PerApp, max(1, tenant*3/4))
	setDefault(&l.PerTenant, max(l.PerApp, tenant))
	setDefault(&l.PerUser, max(1, l.PerApp/2))
	setDefault(&l.Waiting, 10_000)
	setDefault(&l.WaitingPerTenant, 2_500)
	setDefault(&l.WaitingPerApp, 1_000)
	setDefault(&l.WaitingPerUser, max(1, l.WaitingPerApp/8))
	setDefault(&l.Parked, 64)
	setDefault(&l.ParkedPerTenant, max(1, l.Parked*3/4))
	setDefault(&l.ParkedPerApp, max(1, l.ParkedPerTenant*3/4))
	setDefault(&l.ParkedPerUser, max(1, l.ParkedPerApp/2))
	return l
}

func setDefault(field *int, value int) {
	if *field == 0 {
		*field = value
	}
}
