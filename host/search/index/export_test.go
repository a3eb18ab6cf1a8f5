package index

import "github.com/toolrun/toolrun/host/storage"

// SetMinEntries sets the minimum number of entries of a partition with an index.
func SetMinEntries(s *Set, n int) { s.minEntries = n }

// Indexed reports whether a partition has an index in memory.
func Indexed(s *Set, prefix storage.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.find(partitionKey{prefix, "english", "", ""})
	return p != nil && p.bytes > 0
}
