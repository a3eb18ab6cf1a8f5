// Package report holds what a run reports: its Result, with what it used and what it read and wrote. It is the same JSON on
// every surface.
package report

import (
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
)

// Result is what a run answers, the same JSON on every surface.
type Result struct {
	RunID string `json:"run_id"`
	Tool  string `json:"tool"`
	// OK is true where the run succeeded and everything it wrote is stored; otherwise Error is set and
	// nothing was stored.
	OK     bool            `json:"ok"`
	Output json.RawMessage `json:"output"`
	// Context holds the keys that the tool added to its context, or changed there.
	Context  json.RawMessage `json:"context,omitempty"`
	Logs     []abi.LogLine   `json:"logs"`
	Error    *abi.Fault      `json:"error,omitempty"`
	Warnings []string        `json:"warnings"`
	Usage    Usage           `json:"usage"`
	Effects  Effects         `json:"effects"`
	// Changes are what a dry run would have stored.
	Changes []Change `json:"changes,omitempty"`
	// Attempts counts how often the tool was executed; logs, output and effects are the last attempt's.
	Attempts int `json:"attempts"`
	// Repeated is true where an idempotency key answered with the Result of an earlier run.
	Repeated bool `json:"repeated,omitempty"`
}

// Usage is what a run cost, summed over its attempts.
type Usage struct {
	WallMS float64 `json:"wall_ms"`
	CPUMS  float64 `json:"cpu_ms"`
	// MemoryBytes is the peak of a guest, 0 and left out where the engine cannot tell.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	HostCalls   int   `json:"host_calls"`
}

// Effects is what a run read from and wrote to memory: names and revisions, never content.
type Effects struct {
	Reads  []ReadEffect  `json:"reads"`
	Writes []WriteEffect `json:"writes"`
}

// Violations returns what all writes stored although it does not fit the schema of its store.
func (e Effects) Violations() []abi.Violation {
	var all []abi.Violation
	for _, w := range e.Writes {
		all = append(all, w.Violations...)
	}
	return all
}

// Change is what a run does to one record: its content before and after, null where there is none.
type Change struct {
	Store string `json:"store"`
	// Item names the record in a store that has many, here and in the effects.
	Item   string          `json:"item,omitempty"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// ReadEffect says which revision of a store's record a run saw; 0 where there was none.
type ReadEffect struct {
	Store    string `json:"store"`
	Item     string `json:"item,omitempty"`
	Revision int64  `json:"revision"`
}

// WriteEffect says what a run did to a store's record, and the revision after it; 0 after a delete.
type WriteEffect struct {
	Store    string `json:"store"`
	Item     string `json:"item,omitempty"`
	Revision int64  `json:"revision"`
	Op       string `json:"op"`
	// Violations lists what does not fit the schema of a store that is not strict.
	Violations []abi.Violation `json:"violations,omitempty"`
}
