// Package memory keeps the memory of tools: stores that an app declares, in a storage.Backend.
// Guests reach them through a [View], which is bound to one caller, to the grants of one tool, and
// to one attempt of a run.
//
// A [Service] holds the declarations of one app. [Service.Transact] executes a body in attempts,
// each with a fresh View. The writes of an attempt are stored together, if the body succeeds and
// the records that it read have not changed. Otherwise nothing is stored, and after a conflict the
// body runs again. Transactions are therefore serializable, and no body acts on an inconsistent
// state.
//
// A View offers the operations of package abi and nothing else. They name a store, never a user:
// the View is bound to its caller when it is made.
package memory
