// Package report defines the Result of a run. The Result also contains the usage and the effects of
// the run. Every interface of toolrun returns a Result as the same JSON.
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
	// Status is "completed", "paused" or "failed".
	Status Status `json:"status"`
	// If OK is true, the run has succeeded and all its writes are stored. If OK is false, nothing
	// was stored, and either Error is set or the run is paused.
	OK     bool            `json:"ok"`
	Output json.RawMessage `json:"output"`
	// Context contains the keys that the tool changed or added in its context.
	Context json.RawMessage `json:"context,omitempty"`
	Logs    []abi.LogLine   `json:"logs"`
	Error   *abi.Fault      `json:"error,omitempty"`
	// Approval is the approval for which a paused run waits.
	Approval *PendingApproval `json:"approval,omitempty"`
	Warnings []string         `json:"warnings"`
	Usage    Usage            `json:"usage"`
	Effects  Effects          `json:"effects"`
	// Changes contains the changes that a dry run did not store.
	Changes []Change `json:"changes,omitempty"`
	// Remembered contains the entries that a test run would have added to collections, in the order
	// of the calls. If the run is not a test run, or if the run has failed, Remembered is nil.
	Remembered []Remembered `json:"remembered,omitzero"`
	// Attempts is the number of times that the tool was executed. The logs, the output and the
	// effects belong to the last attempt.
	Attempts int `json:"attempts"`
	// Orphaned lists external calls of earlier attempts. The last attempt did not repeat the
	// orphaned calls.
	Orphaned []OrphanedCall `json:"orphaned,omitempty"`
	// If Repeated is true, this Result belongs to an earlier run with the same idempotency key.
	Repeated bool `json:"repeated,omitempty"`
}

// Usage is the total usage of all attempts of a run.
type Usage struct {
	WallMS float64 `json:"wall_ms"`
	// CPUMS is the processor time of the tool in milliseconds. CPUMS includes the time in which the
	// host computes searches and vectors for the tool.
	CPUMS float64 `json:"cpu_ms"`
	// MemoryBytes is the peak memory use of the guest. If the engine cannot measure the memory use,
	// MemoryBytes is omitted.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	HostCalls   int   `json:"host_calls"`
	// Model is the usage of models. If the run called no model, Model is omitted.
	Model ModelUsage `json:"model,omitzero"`
}

// ModelUsage is the use of models by a run. ModelUsage counts only the calls that were sent to a
// model. ModelUsage does not count calls whose answers the journal repeated.
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

// An OrphanedCall is an external call of an earlier attempt. The last attempt did not repeat this
// call. The call was performed, but the result of the run does not depend on the call.
type OrphanedCall struct {
	// Kind is the kind of the call. An example is "chat". Target is the name of the called model.
	Kind   string `json:"kind"`
	Target string `json:"target"`
}

// Effects contains the reads and writes of a run. Effects contains names and revisions, but no
// contents.
type Effects struct {
	Reads  []ReadEffect  `json:"reads"`
	Writes []WriteEffect `json:"writes"`
}

// Violations returns the schema violations of all stored contents.
func (e Effects) Violations() []abi.Violation {
	var all []abi.Violation
	for _, w := range e.Writes {
		all = append(all, w.Violations...)
	}
	return all
}

// A Change contains the content of one record before the change and after the change. If the record
// does not exist before or after the change, the corresponding content is null.
type Change struct {
	Store string `json:"store"`
	// Item identifies the record within the store, if the store has many records. Effects use the
	// same item.
	Item   string          `json:"item,omitempty"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// A Remembered is an entry that a test run would have added to a collection.
type Remembered struct {
	Collection string `json:"collection"`
	// Namespace is the name of the namespace that contains the entry. The default namespace has the
	// name "".
	Namespace string          `json:"namespace"`
	ID        string          `json:"id"`
	Content   json.RawMessage `json:"content"`
	// Metadata is an object. If the entry has no metadata, Metadata is empty.
	Metadata json.RawMessage `json:"metadata"`
	// Expires is the time at which the entry expires. If the entry does not expire, Expires is nil.
	Expires *time.Time `json:"expires_at,omitempty"`
}

// A ReadEffect is a record that a run has read. The ReadEffect contains the revision of the record.
// If the record did not exist, the revision is 0.
type ReadEffect struct {
	Store    string `json:"store"`
	Item     string `json:"item,omitempty"`
	Revision int64  `json:"revision"`
}

// A WriteEffect is a record that a run has written. A WriteEffect contains the operation of the
// write and the new revision of the record. If the operation deleted the record, the revision is 0.
type WriteEffect struct {
	Store    string `json:"store"`
	Item     string `json:"item,omitempty"`
	Revision int64  `json:"revision"`
	Op       string `json:"op"`
	// Violations contains the schema violations of the written content. Only a store that is not
	// strict stores such content.
	Violations []abi.Violation `json:"violations,omitempty"`
}
