package txn

// rule is a bit set of rules that a DB breaks. The set of broken rules is empty except in tests.
// The tests break each rule in turn and require that a schedule detects the error.
type rule uint32

const (
	readsHold      rule = 1 << iota // a read checks in its snapshot whether all earlier reads are unchanged
	commitHolds                     // a commit checks that the read set is unchanged
	rangesHold                      // scanned ranges have no phantoms
	livesHold                       // a visible record in the read set is still visible when the attempt ends
	dependsHold                     // the records that a lifetime depends on are in the read set
	guardsHold                      // guards are satisfied at the commit
	lastCheck                       // at the end of an attempt that stores nothing, the read set is unchanged
	joinsHold                       // a read after a blind update returns the updated record
	blindReapplied                  // blind updates are applied to the latest record
	refusalsJoin                    // a record joins the read set if an update of the record fails
	floorsRaise                     // revisions of a key never repeat
	floorsHold                      // the commit stores the revision that the body saw
	failedUndone                    // a failed nested transaction leaves no writes
	undoneJoin                      // a record joins the read set if its blind updates are undone
	undoneChecked                   // a record with undone updates is checked before the body reads more
	lookedUp                        // the outcome of a lost commit is looked up before the body is executed again
	timesRise                       // Record.Updated increases with each write
	allRules       = iota
)

func (db *DB) breaks(r rule) bool { return db.broken&r != 0 }
