// Package memory provides tools with the stores that their app declares, and enforces schemas,
// scopes, retention and quotas. A storage.Backend keeps the stored data. Tool code accesses the
// stores through a View. A View belongs to one caller and one attempt of a run, and has the grants
// of one tool.
//
// A [Service] contains the declarations of one app. [Service.Transact] executes a function, the
// body, in one or more attempts. Each attempt has a new View. If the body succeeds, and if the
// records that the attempt has read have not changed, all writes of the attempt are stored
// together. Otherwise nothing is stored. If a record has changed, there is a conflict, and the body
// is executed again. Transactions are therefore serializable. A body never reads an inconsistent
// state.
//
// A View offers only the operations of package abi. The arguments of an operation can contain the
// name of a store, but never a user. The user is always the caller of the View.
package memory
