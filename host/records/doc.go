// Package records keeps the host's own records of an app, such as sessions, files and the ledger.
// The package updates them by compare-and-set within the quota, scans and lists them in bounded
// chunks, and removes them.
package records
