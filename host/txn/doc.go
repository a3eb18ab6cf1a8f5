// Package txn runs serializable transactions for untrusted code. The storage backend must support
// compare-and-set. The package handles keys and bytes, and does not interpret contents or scopes.
//
// A transaction is optimistic. The body of a transaction reads and writes through a [Tx]. The
// writes stay in an overlay that only the body sees. When the body returns, the transaction is
// committed with one update of the backend. If a record or range that the body read has changed,
// the update stores nothing. If all records and ranges are unchanged, the update stores all writes.
// After a conflict, the transaction acquires the fair locks of the records that the body used, and
// executes the body again.
//
// A body can rely on the following guarantees:
//
//   - All reads of an attempt return data from one committed state. Each read of the backend checks
//     in its snapshot that the results of all earlier reads have not changed. If a result has
//     changed, the attempt ends, and no method of its Tx succeeds again.
//   - Range reads see no phantoms: inserting a record into a scanned range, or removing one, is a
//     conflict.
//   - A write to a record that the body has not read does not conflict: it is applied to the latest
//     record.
//   - The time, the random seed and the id of the run are the same in each attempt. The RAM that an
//     attempt uses is bounded. The work inside the backend's own transaction, which blocks other
//     commits, is bounded too.
package txn
