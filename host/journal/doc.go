// Package journal records the external calls of one run, such as requests to models. After a
// conflict, a run is executed again. The new attempt gets the recorded answers, so each call is
// made and charged only once.
//
// A Journal belongs to a run and its nested runs. Each execution of the run is an Attempt.
// Attempt.Do identifies a call by the call's kind, target and canonical request, and by the call's
// number among the equal requests of the attempt. If an answer is recorded, Attempt.Do returns the
// answer and makes no call. Faults are recorded like answers, because the guest has seen them. If
// an equal call of an earlier attempt is still in flight, the new attempt waits for that call.
//
// Calls are safe or unsafe. A safe call has no effects, so it can be cancelled when its attempt
// ends. An unsafe call is never cancelled. The journal records its result, even if the attempt has
// already ended.
//
// A journal is bounded. If the journal is full, the run continues, but it cannot be executed again.
// At most three attempts can make new calls.
package journal
