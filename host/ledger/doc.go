// Package ledger records which records were read and written by runs and operators. Entries contain
// names and revisions, but never contents. If a run writes records, the same commit writes its
// entry. Entries of runs without writes are added later.
package ledger
