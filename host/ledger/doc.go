// Package ledger keeps a ledger of the records that runs and operators have read and written.
// Entries contain names and revisions, but never contents. If a run writes records, the commit of
// the run also writes the ledger entry of the run. If a run writes no records, its entry is added
// later.
package ledger
