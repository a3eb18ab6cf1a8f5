package ledger

import (
	"slices"

	"github.com/toolrun/toolrun/host/report"
)

// Limits of an entry, which must fit into a record: a run can use thousands of records, and the
// item of each can have 512 bytes.
const (
	// maxEffects bounds the reads and the writes of an entry. The first one on each further store
	// is added to them.
	maxEffects = 400
	// maxViolations bounds the violations of a write, and maxAllViolations those of an entry.
	maxViolations    = 20
	maxAllViolations = 300
)

// bounded returns an entry within the limits. More counts the omitted reads and writes.
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

// first returns the first effects and at least one for each store, and the number of omitted ones.
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
