// Package postgres is a storage backend in a PostgreSQL database, version 14 or later.
//
// Reads and updates are serializable transactions: one that conflicts with another is rolled back
// and tried again. A call takes one round trip to read and, if it writes, a second one to commit.
// The tables are in the schema that the connection string names as search_path, or else in
// "toolrun"; [Open] creates them.
//
// Budgets are approximate: an update is compared with what accounts held when it began. Updates
// that take place at the same time may exceed a limit together, each by what it adds; there are at
// most as many as connections. The next one is refused.
package postgres
