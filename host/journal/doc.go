// Package journal records the external calls of one run, such as requests to models. If the run is
// executed again after a conflict, the new attempt gets the recorded answers, so that each call is
// made and charged only once.
//
// A Journal belongs to a run and its nested runs. Each execution of the run is an Attempt.
// Attempt.Do identifies a call by its kind, its target, its canonical request, and the number of
// equal requests before it in the attempt. A recorded answer is returned without a call. Faults are
// recorded like answers, because the guest has seen them. If the call of an earlier attempt is
// still in flight, the new attempt waits for this call.
//
// Calls are safe or unsafe. A safe call has no effects and can be cancelled when its attempt ends.
// The journal waits for an unsafe call and records its result, even if its attempt ends first.
//
// A journal is bounded. If the journal is full, the run continues, but it cannot be executed again.
// At most three attempts can make new calls.
package journal
