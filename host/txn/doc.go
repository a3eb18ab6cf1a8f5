// Package txn runs serializable transactions for untrusted code over any backend with
// compare-and-set. It handles keys and bytes, and has no notion of JSON or of scopes.
//
// A transaction is optimistic. Its body reads and writes through a [Tx]; its writes stay in an
// overlay that only the body sees. When the body returns, one update of the backend checks that
// everything the body read is unchanged, and stores all its writes or none. If a record has changed,
// the body is executed again, after it acquired fair locks of the records that it used.
//
// A body can rely on this:
//
//   - Every read is from a state that existed: each read of the backend checks in the same snapshot
//     that all earlier reads still hold. If they do not, the attempt is over, and no method of its
//     Tx succeeds again.
//   - Reads of ranges see no phantoms: a record that is inserted into a scanned range, or removed
//     from it, is a conflict.
//   - A write to a record that the body has not read does not conflict: it is applied to the latest
//     record.
//   - The time, the random seed and the id of the run are the same in each attempt.
//
// The work inside the backend's own transaction, where others wait, is bounded, and so is the
// memory of an attempt.
package txn
