// Package records reads and updates the records that the host keeps for an app, such as sessions,
// files and the ledger. The package updates records by compare-and-set and enforces the quota. The
// package also removes, scans and lists records in chunks of limited size.
package records
