// Package txntest runs concurrent transactions for tests. A seed determines how the transactions
// are interleaved. Failures are therefore reproducible.
//
//   - A [Scheduler] is a backend whose tasks pause at every operation. Only one task runs at a
//     time.
//   - [Schedules] plays many seeds on each backend and checks that the seeds reach the listed
//     situations.
//   - [Contention] checks that transactions on the same records finish within a few attempts.
//
// A Scheduler works only inside a bubble of [testing/synctest].
package txntest
