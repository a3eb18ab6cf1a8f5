package cli

import (
	"sync"
	"time"
)

// reloaded is the result of the last reload of the app files, and is safe for concurrent use.
type reloaded struct {
	mu     sync.Mutex
	at     time.Time // the zero time before the first reload
	failed bool
}

// note records the result of a reload.
func (r *reloaded) note(at time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.failed = at, err != nil
}

// gauges returns metrics about the last reload.
func (r *reloaded) gauges() []gauge {
	return []gauge{
		{"toolrun_last_reload_success", "0 if the last reload of the app files failed, otherwise 1.", func() float64 {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.failed {
				return 0
			}
			return 1
		}},
		{"toolrun_last_reload_timestamp_seconds", "Time of the last reload of the app files, in seconds since 1970; 0 before the first one.", func() float64 {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.at.IsZero() {
				return 0
			}
			return float64(r.at.Unix())
		}},
	}
}
