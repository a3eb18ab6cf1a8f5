package admission

import (
	"errors"
	"fmt"
	"runtime"
)

// Limits are how many may run and wait. A zero field means the default that its comment names; New refuses a negative
// one.
type Limits struct {
	// Running is how many run at a time. Default 2 for each processor that Go uses: guests compute, and more of them at
	// once only get in each other's way.
	Running int
	// PerTenant is how many of one tenant run at a time. Default three quarters of Running, or PerApp if that is more.
	PerTenant int
	// PerApp is how many of one app and tenant run at a time. Default three quarters of a tenant's default, so that an
	// app leaves a place for the tenant's others.
	PerApp int
	// PerUser is how many of one user run at a time; who has no name is not bounded by it. Default half of PerApp.
	PerUser int
	// Waiting is how many wait at a time, WaitingPerTenant how many of one tenant, WaitingPerApp of one app and tenant, and
	// WaitingPerUser of one user, where they have names. Default 10,000, 2,500, 1,000, and an eighth of WaitingPerApp.
	Waiting          int
	WaitingPerTenant int
	WaitingPerApp    int
	WaitingPerUser   int
}

func (l Limits) check() error {
	var errs []error
	for _, field := range []struct {
		name  string
		value int
	}{
		{"Running", l.Running}, {"PerTenant", l.PerTenant}, {"PerApp", l.PerApp}, {"PerUser", l.PerUser}, {"Waiting", l.Waiting},
		{"WaitingPerTenant", l.WaitingPerTenant}, {"WaitingPerApp", l.WaitingPerApp}, {"WaitingPerUser", l.WaitingPerUser},
	} {
		if field.value < 0 {
			errs = append(errs, fmt.Errorf("admission: Limits.%s is negative; 0 means the default", field.name))
		}
	}
	return errors.Join(errs...)
}

// OneApp returns the limits of a gate that serves one app, which has no neighbours to leave a place for: the app may run
// as many as its tenant.
func OneApp() Limits { return Limits{PerApp: tenantShare(defaultRunning())} }

func defaultRunning() int { return 2 * runtime.GOMAXPROCS(0) }

// tenantShare is how many of those that run may be of one tenant, by default.
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
	return l
}

func setDefault(field *int, value int) {
	if *field == 0 {
		*field = value
	}
}
