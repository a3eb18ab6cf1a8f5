// Package records manages the host records of an app. Examples of host records are sessions, files
// and the ledger. The package updates records by compare-and-set and enforces the quota. The
// package also removes, scans and lists records in chunks of limited size.
package records
