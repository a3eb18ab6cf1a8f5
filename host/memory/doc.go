// Package memory implements the memory of tools: the stores that an app declares. The stores are
// kept in a storage.Backend. Tool code accesses the stores through a [View]. A View is bound to one
// caller, to the grants of one tool, and to one attempt of a run.
//
// A [Service] contains the declarations of one app. [Service.Transact] executes a body in attempts,
// each with a new View. The writes of an attempt are stored together, if the body succeeds and the
// records that it read have not changed. Otherwise nothing is stored. After a conflict, the body is
// executed again. Transactions are therefore serializable, and no body acts on an inconsistent
// state.
//
// A View offers only the operations of package abi. The operations name a store, never a user: a
// View is bound to its caller when it is created.
package memory
