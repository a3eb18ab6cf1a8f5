package native

import "time"

// Result is the outcome of an attack.
type Result struct {
	Attack   string        `json:"attack"`
	Without  string        `json:"without,omitempty"` // the disabled layer, or "" if no layer is disabled
	Answer   string        `json:"answer"`
	Blocked  bool          `json:"blocked"` // whether the attack failed
	Alive    bool          `json:"alive"`   // true if the neighbor always worked
	Late     bool          `json:"late"`    // true if the run ended too late after its deadline
	Duration time.Duration `json:"duration_ns"`
}

// Failed reports whether the host failed. If no layer is disabled, the attack must be blocked. In
// any case, the host and the neighbor must survive.
func (r Result) Failed() bool { return !r.Alive || r.Late || r.Without == "" && !r.Blocked }
