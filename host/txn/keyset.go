package txn

import (
	"slices"

	"github.com/toolrun/toolrun/host/storage"
)

// keySet is a list of keys without doubles.
type keySet struct {
	list  []storage.Key
	index map[storage.Key]int // nil while there are few
}

func (s *keySet) add(keys ...storage.Key) {
	for _, key := range keys {
		if s.find(key) >= 0 {
			continue
		}
		s.list = append(s.list, key)
		if s.index == nil && len(s.list) > fewEntries {
			s.index = make(map[storage.Key]int, 4*fewEntries)
			for i, known := range s.list {
				s.index[known] = i
			}
		}
		if s.index != nil {
			s.index[key] = len(s.list) - 1
		}
	}
}

// find returns the place of a key, or -1.
func (s *keySet) find(key storage.Key) int {
	if s.index == nil {
		return slices.Index(s.list, key)
	}
	if i, ok := s.index[key]; ok {
		return i
	}
	return -1
}
