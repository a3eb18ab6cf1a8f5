package memory

import (
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
)

// redact returns the violations of a write with nothing of the content in them: the pointers name only what the
// declaration has.
func (s *Service) redact(w report.WriteEffect) []abi.Violation {
	st := s.stores[w.Store]
	if st == nil {
		return nil
	}
	kept := slices.Clone(w.Violations)
	for i, v := range kept {
		kept[i].Pointer = st.compiled.Public(v.Pointer)
	}
	return kept
}
