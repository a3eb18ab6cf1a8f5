// Package approval stores paused runs and the requests for their approval. If a run reaches an
// effect that a person must approve, the run makes a request. The run then ends without a commit.
// The request is stored with the invocation of the run, and with the answers to the external calls
// of the run. If the effect is approved, the run is executed again, and does not stop at this
// effect.
//
// A request has two records. Approvers read the first record, which is small. The second record
// contains the paused run, and is removed when the request is decided. Both records of a request
// belong to the user whose run made the request.
package approval
