// Package txntest tests transactions in interleavings that a seed determines, so that failures can
// be reproduced.
//
//   - A [Scheduler] is a backend whose tasks pause at every operation. One task continues at a
//     time.
//   - [Schedules] plays many seeds on each backend and checks that they reached the situations that
//     it lists.
//   - [Contention] checks that transactions on the same records finish within a few attempts.
//
// A Scheduler works only inside a bubble of [testing/synctest].
package txntest
