package admission

import (
	"errors"
	"fmt"
	"runtime"
)

// Limits are how many may run and wait. A zero field means the default that its comment names; New refuses a negative
// one.
type Limits struct {
	// Running is how many run at a time. Default 2 for each processor that Go uses: guests compute, and more of them at once only get in each other's way.
	Running int
	// PerApp is how many of one app and tenant run at a time. Default three quarters of Running.
	PerApp int
	// PerUser is how many of one user run at a time; who has no name is not bounded by it. Default half of PerApp.
	PerUser int
	// Waiting is how many wait at a time, and WaitingPerApp how many of one app and tenant. Default 10,000 and 1,000.
	Waiting       int
	WaitingPerApp int
}

func (l Limits) check() error {
	var errs []error
	for _, field := range []struct {
		name  string
		value int
	}{{"Running", l.Running}, {"PerApp", l.PerApp}, {"PerUser", l.PerUser}, {"Waiting", l.Waiting}, {"WaitingPerApp", l.WaitingPerApp}} {
		if field.value < 0 {
			errs = append(errs, fmt.Errorf("admission: Limits.%s is negative; 0 means the default", field.name))
		}
	}
	return errors.Join(errs...)
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Running, 2*runtime.GOMAXPROCS(0))
	setDefault(&l.PerApp, max(1, l.Running*3/4))
	setDefault(&l.PerUser, max(1, l.PerApp/2))
	setDefault(&l.Waiting, 10_000)
	setDefault(&l.WaitingPerApp, 1_000)
	return l
}

func setDefault(field *int, value int) {
	if *field == 0 {
		*field = value
	}
}
