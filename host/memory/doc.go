// Package memory is what tools remember: stores that an app declares, kept in a storage.Backend, seen through
// a [View] that is bound to one caller, to one tool's grants and to one attempt of a run.
//
// A [Service] holds the declarations of one app. [Service.Transact] executes a body in attempts: each gets a
// fresh View, and what the body wrote through it is stored whole when the body succeeds and the records that
// it read are still what it saw; otherwise nothing is stored, and after a conflict the body runs again. So
// bodies behave as if one came after the other, and none acts on a state that did not exist.
//
// A View offers the operations of package abi and nothing else. They name a store, never a person: for whom
// a View reads and writes was fixed when it was made.
package memory
