// Package records keeps the host's own records of one app: sessions, files, the ledger and the like. It updates them by
// compare-and-set within the quota, scans and lists them in bounded chunks, and removes them.
package records
