package native

import "time"

// Result is what came of an attack.
type Result struct {
	Attack  string        `json:"attack"`
	Without string        `json:"without,omitempty"` // the layer that was left out, "" for none
	Answer  string        `json:"answer"`
	Held    bool          `json:"held"`  // the attack did not succeed
	Alive   bool          `json:"alive"` // a neighbour ran before, during and after it, and was answered in time
	Late    bool          `json:"late"`  // the run ended later than it may
	Took    time.Duration `json:"took_ns"`
}

// Failed reports whether the host did not stand it. With all layers an attack is to be held; with one left out the host and
// the neighbour are to live.
func (r Result) Failed() bool { return !r.Alive || r.Late || r.Without == "" && !r.Held }
