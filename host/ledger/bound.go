package ledger

import (
	"slices"

	"github.com/toolrun/toolrun/host/report"
)

// These are the limits of an entry. An entry must fit into one record. But a run can use thousands
// of records, and the name of each item can have 512 bytes. Without limits, an entry could
// therefore exceed the maximum size of a record.
const (
	// maxEffects is the maximum number of reads of an entry, and also the maximum number of writes.
	// If all reads of a store would be omitted, the entry also keeps the first read of the store.
	// The same rule applies to writes.
	maxEffects = 400
	// maxViolations is the maximum number of violations of a write. maxAllViolations is the maximum
	// number of violations of an entry.
	maxViolations    = 20
	maxAllViolations = 300
)

// bounded returns a copy of an entry that is within the limits. In the copy, the field More
// contains the number of omitted reads and writes.
func (l *Ledger) bounded(e Entry) Entry {
	reads, moreReads := first(e.Reads, func(r report.ReadEffect) string { return r.Store })
	writes, moreWrites := first(e.Writes, func(w report.WriteEffect) string { return w.Store })
	e.Reads, e.Writes, e.More = reads, slices.Clone(writes), moreReads+moreWrites
	left := maxAllViolations
	for i, w := range e.Writes {
		w.Violations = w.Violations[:min(len(w.Violations), maxViolations, left)]
		left -= len(w.Violations)
		e.Writes[i].Violations = l.cfg.Redact(w)
	}
	return e
}

// The function "first" truncates a list of effects, but keeps at least one effect for each store.
// The function also returns the number of omitted effects.
func first[T any](effects []T, store func(T) string) (kept []T, more int) {
	if len(effects) <= maxEffects {
		return effects, 0
	}
	kept = slices.Clone(effects[:maxEffects])
	seen := map[string]bool{}
	for _, e := range kept {
		seen[store(e)] = true
	}
	for _, e := range effects[maxEffects:] {
		if name := store(e); !seen[name] {
			kept, seen[name] = append(kept, e), true
			continue
		}
		more++
	}
	return kept, more
}
