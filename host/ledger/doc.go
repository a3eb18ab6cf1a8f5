// Package ledger keeps a record of what runs and operators read and wrote: names and revisions,
// never contents. The entry of a run that stores something is written by the same commit. Other
// entries are added later.
package ledger
