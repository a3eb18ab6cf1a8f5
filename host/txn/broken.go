package txn

// rule is a bit set of rules. A DB can break rules to test the tests. Outside of tests, no rule is
// broken. The tests break each rule in turn and require that a schedule detects the broken rule.
type rule uint32

const (
	readsHold      rule = 1 << iota // a read checks in its snapshot whether all earlier reads are unchanged
	commitHolds                     // a commit checks that the read set is unchanged
	rangesHold                      // no record appears in a scanned range before the commit
	livesHold                       // a visible record in the read set is still visible when the attempt ends
	dependsHold                     // the read set contains the records on which a lifetime depends
	guardsHold                      // the guards are satisfied when the commit happens
	lastCheck                       // an attempt that stores nothing checks its reads
	joinsHold                       // a read after a blind update returns the updated record
	blindReapplied                  // blind updates are applied to the latest record
	refusalsJoin                    // a record joins the read set if an update of the record fails
	floorsRaise                     // revisions of a key never repeat
	floorsHold                      // the stored revision is the revision that the body saw
	failedUndone                    // a failed nested transaction leaves no writes
	undoneJoin                      // a record joins the read set if its blind updates are undone
	undoneChecked                   // a record with undone updates is checked before the body reads more
	lookedUp                        // after an unknown outcome, the commit is looked up
	timesRise                       // Record.Updated increases with each write
	allRules       = iota
)

func (db *DB) breaks(r rule) bool { return db.broken&r != 0 }
