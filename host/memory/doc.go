// Package memory implements the memory of tools: the stores that an app declares. A storage.Backend
// keeps the stored data. Tool code accesses the stores through a [View]. A View is bound to one
// caller, to the grants of one tool, and to one attempt of a run.
//
// A [Service] contains the declarations of one app. [Service.Transact] executes a function, which
// is called the body, in one or more attempts. Each attempt has a new View. If the body succeeds
// and the records that the attempt read have not changed, all writes of the attempt are stored
// together. Otherwise nothing is stored. After a conflict, the body is executed again. Transactions
// are therefore serializable, and a body never reads an inconsistent state.
//
// A View offers only the operations of package abi. The arguments of an operation can contain the
// name of a store, but never a user, because a View is bound to its caller.
package memory
