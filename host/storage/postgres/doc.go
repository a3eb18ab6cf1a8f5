// Package postgres is a storage backend in a PostgreSQL database, version 14 or later.
//
// Reads and updates are serializable transactions. A transaction that conflicts with another
// transaction is rolled back and repeated. A call needs one round trip for its reads and, if the
// call writes, a second round trip to commit. The tables are in the schema that the connection
// string specifies as search_path. The default of search_path is the schema "toolrun". [Open]
// creates the tables.
//
// Budgets are approximate, because an update is checked against the usage before the update began.
// The number of concurrent updates is at most the number of connections. Together, concurrent
// updates can exceed a limit by the amount that they add. The first update after the limit was
// exceeded is rejected.
package postgres
