package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/storage"
)

// memory tracks how much memory the indexes of a Set use. The mutex Set.mu guards the struct.
type memory struct {
	limit  int64
	total  int64
	groups map[string]int64
	// unfit contains the partitions whose indexes did not fit in memory.
	unfit map[storage.Key]unfit
}

// unfit describes a failed attempt to build an index that did not fit in memory.
type unfit struct {
	bytes int64 // the size of the index when the attempt ended
	scans int   // the number of searches without an index since the attempt
}

// Limits of unfit partitions.
const (
	// scansPerAttempt is the number of searches without an index after which the Set tries again to
	// build the index. The partition may have become smaller in the meantime.
	scansPerAttempt = 100
	maxUnfit        = 1024
)

// add adds a number of bytes to the memory use of a group.
func (m *memory) add(group string, bytes int64) {
	m.total += bytes
	if m.groups[group] += bytes; m.groups[group] <= 0 {
		delete(m.groups, group)
	}
}

// room returns the maximum size of an index of a group. The maximum size is the larger of two
// sizes: the share of the group, and the memory that the other groups do not use. A group can use
// more than its share only as long as the other groups do not need the memory.
func (m *memory) room(group string) int64 {
	groups := len(m.groups)
	if _, counted := m.groups[group]; !counted {
		groups++
	}
	return max(m.limit/int64(groups), m.limit-(m.total-m.groups[group]))
}

// largest returns the group that uses the most memory. If the memory limit is exceeded, the largest
// group uses more than its share. If no group uses more memory than the group "preferred", the
// result is "preferred".
func (m *memory) largest(preferred string) string {
	found := preferred
	for group, bytes := range m.groups {
		if order := cmp.Compare(bytes, m.groups[found]); order > 0 || order == 0 && found != preferred && strings.Compare(group, found) < 0 {
			found = group
		}
	}
	return found
}

// fits reports whether an attempt to build the index of a partition can succeed.
func (m *memory) fits(prefix storage.Key, group string) bool {
	u, known := m.unfit[prefix]
	if !known {
		return true
	}
	if u.bytes < m.room(group) || u.scans >= scansPerAttempt {
		delete(m.unfit, prefix)
		return true
	}
	u.scans++
	m.unfit[prefix] = u
	return false
}

// note records that the index of a partition did not fit in memory.
func (m *memory) note(p *partition) {
	if len(m.unfit) >= maxUnfit {
		clear(m.unfit)
	}
	m.unfit[p.key.prefix] = unfit{bytes: p.bytes}
}

// account records the size of a partition's table, and the number of entries in this table. If the
// memory limit is exceeded, account evicts the least recently used partition of the group that uses
// the most memory. The result is false if the given partition has been evicted.
func (s *Set) account(p *partition, bytes int64, entries int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.evicted {
		return false
	}
	s.memory.add(p.group, bytes-p.bytes)
	p.bytes, p.entries = bytes, entries
	for s.memory.total > s.memory.limit {
		victim := s.oldest(s.memory.largest(p.group), p)
		s.evict(victim)
		s.counters.evictions.Add(1)
		if victim == p {
			s.memory.note(p)
			return false
		}
	}
	return true
}

// reject evicts a partition that cannot have an index.
func (s *Set) reject(p *partition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.evict(p)
	s.memory.note(p)
}

// oldest returns the least recently used partition of a group. oldest returns the argument "last"
// only if the group has no other partition. The caller must hold the mutex.
func (s *Set) oldest(group string, last *partition) *partition {
	found := last
	for _, partitions := range s.partitions {
		for _, p := range partitions {
			if p.group == group && p != last && p.bytes > 0 && (found == last || p.used < found.used) {
				found = p
			}
		}
	}
	return found
}

// evict removes a partition from the set. Searches that use the partition can continue. The caller
// must hold the mutex.
func (s *Set) evict(p *partition) {
	if p.evicted {
		return
	}
	p.evicted = true
	s.memory.add(p.group, -p.bytes)
	remaining := slices.DeleteFunc(s.partitions[p.key.prefix], func(other *partition) bool { return other == p })
	if s.partitions[p.key.prefix] = remaining; len(remaining) == 0 {
		delete(s.partitions, p.key.prefix)
	}
}
