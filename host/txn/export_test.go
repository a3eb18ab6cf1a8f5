package txn

// Rule is a rule of transactions. Tests can make a DB break the rule.
type Rule = rule

// Rules names all rules.
var Rules = map[string]Rule{
	"readsHold": readsHold, "commitHolds": commitHolds, "rangesHold": rangesHold, "livesHold": livesHold,
	"dependsHold": dependsHold, "guardsHold": guardsHold, "lastCheck": lastCheck, "joinsHold": joinsHold,
	"blindReapplied": blindReapplied, "refusalsJoin": refusalsJoin, "floorsRaise": floorsRaise, "floorsHold": floorsHold,
	"failedUndone": failedUndone, "undoneJoin": undoneJoin, "undoneChecked": undoneChecked, "lookedUp": lookedUp, "timesRise": timesRise,
}

const AllRules = allRules

// Break makes a DB break rules.
func (db *DB) Break(r Rule) { db.broken = r }
