package txn

// rule is a set of rules that a DB breaks. It is empty except in tests, which break each rule in
// turn and require that a schedule detects it.
type rule uint32

const (
	readsHold      rule = 1 << iota // a read checks all earlier reads in its snapshot
	commitHolds                     // a commit checks the read set
	rangesHold                      // scanned ranges have no phantoms
	livesHold                       // a record that was read alive is alive when the attempt ends
	dependsHold                     // the records that a life depends on are in the read set
	guardsHold                      // guards hold at commit
	lastCheck                       // an attempt that stores nothing saw a state that existed at its end
	joinsHold                       // a record that is read after a blind update is the updated one
	blindReapplied                  // blind updates are applied to the latest record
	refusalsJoin                    // an update's error puts the record into the read set
	floorsRaise                     // revisions of a key never repeat
	floorsHold                      // a revision that the body saw is the one that is stored
	failedUndone                    // a failed nested transaction leaves no writes
	undoneJoin                      // a record whose blind updates were undone is in the read set
	undoneChecked                   // and was checked before the body sees more
	lookedUp                        // an unknown outcome is looked up before the body is executed again
	timesRise                       // a record's Updated rises with each write
	allRules       = iota
)

func (db *DB) breaks(r rule) bool { return db.broken&r != 0 }
