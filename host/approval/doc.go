// Package approval stores requests for approval. A run makes a request when it reaches an effect
// that a person must approve. The run then ends without a commit. Its invocation, and the answers
// to its external calls, are stored with the request. If the effect is approved, the run is
// executed again and continues past the effect.
//
// A request has two records: a small record, which approvers read, and a record with the paused
// run, which is removed as soon as the request is decided. Both records of a request belong to the
// user of the run.
package approval
