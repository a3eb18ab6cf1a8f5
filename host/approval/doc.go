// Package approval stores requests for approval. A run makes such a request when it reaches an
// effect that a person must approve: the run then ends without a commit, and its invocation and the
// answers to its external calls are stored with the request. If the effect is approved, the run is
// executed again and continues past the effect.
//
// A request has two records: a small one, which approvers read, and one with the run, which is
// removed as soon as the request is decided. Both records of a request belong to the user of the
// run.
package approval
