// Package records keeps the host's own records of an app, such as sessions, files and the ledger.
// The package updates the records by compare-and-set within the quota, scans and lists the records
// in bounded chunks, and removes records.
package records
