package memory

import (
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
)

// redact returns a function that changes the violations of a write. The function removes parts of
// contents from the violations. After the change, the pointers in the violations contain only names
// from the declaration.
func redact(stores map[string]*store) func(report.WriteEffect) []abi.Violation {
	return func(w report.WriteEffect) []abi.Violation {
		st := stores[w.Store]
		if st == nil {
			return nil
		}
		kept := slices.Clone(w.Violations)
		for i, v := range kept {
			kept[i].Pointer = st.compiled.Public(v.Pointer)
		}
		return kept
	}
}
