// Package txntest tests transactions in interleavings that follow from a seed, so that a failure can be repeated.
//
//   - A [Scheduler] is a backend whose tasks pause at every operation. It lets one task continue at a time.
//   - [Schedules] plays many seeds on each backend and checks that they covered the situations that matter.
//   - [Contention] checks that transactions that update the same records finish within a few attempts.
//
// Schedulers work only inside a bubble of [testing/synctest].
package txntest
