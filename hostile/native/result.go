package native

import "time"

// Result is the outcome of an attack.
type Result struct {
	Attack   string        `json:"attack"`
	Without  string        `json:"without,omitempty"` // the disabled layer; "" for none
	Answer   string        `json:"answer"`
	Blocked  bool          `json:"blocked"` // the attack did not succeed
	Alive    bool          `json:"alive"`   // a neighbour ran before, during and after it, with results in time
	Late     bool          `json:"late"`    // the run ended after its deadline
	Duration time.Duration `json:"duration_ns"`
}

// Failed reports whether the host failed: with all layers, the attack must be blocked; in any case
// the host and the neighbour must survive.
func (r Result) Failed() bool { return !r.Alive || r.Late || r.Without == "" && !r.Blocked }
