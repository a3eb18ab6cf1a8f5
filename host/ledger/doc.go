// Package ledger keeps a record of what runs and operators read and wrote: names and revisions, never contents. The entry of
// a run that stores something is a part of its commit; others are added later.
package ledger
