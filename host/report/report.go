// Package report defines what a run reports: its Result, with usage and effects. Every interface of
// toolrun returns the same JSON.
package report

import (
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// Result is the result of a run.
type Result struct {
	RunID string `json:"run_id"`
	Tool  string `json:"tool"`
	// Status is completed, paused or failed.
	Status Status `json:"status"`
	// OK reports whether the run succeeded and all its writes are stored. If OK is false, nothing
	// was stored, and either Error is set or the run is paused.
	OK     bool            `json:"ok"`
	Output json.RawMessage `json:"output"`
	// Context contains the keys that the tool added to its context or changed.
	Context json.RawMessage `json:"context,omitempty"`
	Logs    []abi.LogLine   `json:"logs"`
	Error   *abi.Fault      `json:"error,omitempty"`
	// Approval is the approval that a paused run waits for.
	Approval *PendingApproval `json:"approval,omitempty"`
	Warnings []string         `json:"warnings"`
	Usage    Usage            `json:"usage"`
	Effects  Effects          `json:"effects"`
	// Changes are the changes that a dry run would have stored.
	Changes []Change `json:"changes,omitempty"`
	// Remembered are the entries of collections that a test run would have stored, in the order of
	// the calls. If the run is not a test run or has failed, Remembered is nil.
	Remembered []Remembered `json:"remembered,omitzero"`
	// Attempts is the number of times that the tool was executed. The logs, the output and the effects
	// are from the last attempt.
	Attempts int `json:"attempts"`
	// Orphaned lists the external calls of earlier attempts that the last attempt did not repeat.
	Orphaned []OrphanedCall `json:"orphaned,omitempty"`
	// Repeated is true if this is the Result of an earlier run with the same idempotency key.
	Repeated bool `json:"repeated,omitempty"`
}

// Usage is the usage of a run, summed over its attempts.
type Usage struct {
	WallMS float64 `json:"wall_ms"`
	// CPUMS is the processor time of the tool, and of the searches and vectors that the host computes
	// for its collections.
	CPUMS float64 `json:"cpu_ms"`
	// MemoryBytes is the guest's peak memory. MemoryBytes is omitted if the engine cannot measure
	// it.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	HostCalls   int   `json:"host_calls"`
	// Model is the usage of models. If the run called no model, Model is omitted.
	Model ModelUsage `json:"model,omitzero"`
}

// ModelUsage is the usage of models. ModelUsage counts the calls that were made. ModelUsage does
// not count answers that the journal repeated without a call.
type ModelUsage struct {
	Calls        int `json:"calls"`
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

// TargetUsage is the usage of one model.
type TargetUsage struct {
	Model string `json:"model"`
	ModelUsage
}

// Plus returns the sum of u and v.
func (u ModelUsage) Plus(v ModelUsage) ModelUsage {
	return ModelUsage{u.Calls + v.Calls, u.InputTokens + v.InputTokens, u.OutputTokens + v.OutputTokens}
}

// OrphanedCall is an external call of an earlier attempt that the last attempt did not repeat. The
// call was made, but the result does not depend on it.
type OrphanedCall struct {
	// Kind is the kind of the call, such as chat. Target is the name of the model.
	Kind   string `json:"kind"`
	Target string `json:"target"`
}

// Effects are the reads and writes of a run: names and revisions, never content.
type Effects struct {
	Reads  []ReadEffect  `json:"reads"`
	Writes []WriteEffect `json:"writes"`
}

// Violations returns all schema violations of the stored contents.
func (e Effects) Violations() []abi.Violation {
	var all []abi.Violation
	for _, w := range e.Writes {
		all = append(all, w.Violations...)
	}
	return all
}

// Change is the change of one record: its content before and after the change. If the record does
// not exist, the content is null.
type Change struct {
	Store string `json:"store"`
	// Item identifies the record in a store with many records, here and in effects.
	Item   string          `json:"item,omitempty"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// Remembered is an entry that a test run would have stored in a collection.
type Remembered struct {
	Collection string `json:"collection"`
	// Namespace is the name of the namespace. The default namespace has the name "".
	Namespace string          `json:"namespace"`
	ID        string          `json:"id"`
	Content   json.RawMessage `json:"content"`
	// Metadata is an object. If the entry has no metadata, Metadata is empty.
	Metadata json.RawMessage `json:"metadata"`
	// Expires is the time at which the entry expires, or nil.
	Expires *time.Time `json:"expires_at,omitempty"`
}

// ReadEffect contains the revision of a record that a run has read. If the record did not exist,
// the revision is 0.
type ReadEffect struct {
	Store    string `json:"store"`
	Item     string `json:"item,omitempty"`
	Revision int64  `json:"revision"`
}

// WriteEffect is a write of a record. WriteEffect contains the operation and the new revision of
// the record. After a delete, the revision is 0.
type WriteEffect struct {
	Store    string `json:"store"`
	Item     string `json:"item,omitempty"`
	Revision int64  `json:"revision"`
	Op       string `json:"op"`
	// Violations are the schema violations of content that was written to a store that is not
	// strict.
	Violations []abi.Violation `json:"violations,omitempty"`
}
