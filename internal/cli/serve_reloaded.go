package cli

import (
	"sync"
	"time"
)

// reloaded is how the last reload ended. It is safe for concurrent use.
type reloaded struct {
	mu     sync.Mutex
	at     time.Time // zero before the first one
	failed bool
}

// note keeps how a reload ended.
func (r *reloaded) note(at time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.failed = at, err != nil
}

// gauges returns what metrics report of the last reload.
func (r *reloaded) gauges() []gauge {
	return []gauge{
		{"toolrun_last_reload_success", "Whether the last reload of the app files was taken up: 1, also before the first one, or 0.", func() float64 {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.failed {
				return 0
			}
			return 1
		}},
		{"toolrun_last_reload_timestamp_seconds", "When the last reload of the app files ended, in seconds since 1970; 0 before the first one.", func() float64 {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.at.IsZero() {
				return 0
			}
			return float64(r.at.Unix())
		}},
	}
}
