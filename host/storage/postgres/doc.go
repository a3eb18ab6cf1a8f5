// Package postgres is a storage backend in a PostgreSQL database, version 14 or later.
//
// Reads and updates are serializable transactions: a transaction that conflicts with another is
// rolled back and tried again. A call takes one round trip to read and, if it writes, a second one
// to commit. The tables are in the schema that the connection string names as search_path, or else
// in "toolrun"; [Open] creates them.
//
// Budgets are approximate: an update is checked against the usage before it began. Concurrent
// updates, of which there are at most as many as connections, may together exceed a limit by what
// they add. The next update is rejected.
package postgres
