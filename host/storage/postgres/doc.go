// Package postgres is a storage backend that uses a PostgreSQL database. PostgreSQL must be version
// 14 or later.
//
// Reads and updates are serializable transactions. A transaction that conflicts with another
// transaction is rolled back and repeated. A call needs one round trip for its reads. If the call
// also writes, the call needs a second round trip for the commit. The tables are in the schema that
// the connection string specifies as search_path. The default of search_path is the schema
// "toolrun". [Open] creates the tables.
//
// Budgets are approximate, because the check of an update uses the usage from before the update.
// The number of concurrent updates is at most the number of connections. Concurrent updates
// together can exceed a limit by the amount that the updates add. If a limit is already exceeded,
// the next update that adds to the usage is rejected.
package postgres
