package index

import (
	"sync/atomic"
	"time"
)

// Stats describes the indexes of a Set and their use since the Set was created.
type Stats struct {
	// Bytes is the approximate size of all indexes in memory. Limit is Options.Bytes.
	Bytes, Limit int64
	// Indexes is the number of indexes, and Entries is the total number of entries in these
	// indexes.
	Indexes, Entries int64
	// Searches is the number of searches. Scans is the number of searches that used no index, and
	// therefore read the records of a partition. SearchTime is the total duration of all searches.
	Searches, Scans int64
	SearchTime      time.Duration
	// Builds is the number of times that a search began to build an index from all entries of a
	// partition. Evictions is the number of indexes that were removed to free memory.
	Builds, Evictions int64
}

// counters are the counters of a Set.
type counters struct {
	searches, scans, nanoseconds, builds, evictions atomic.Int64
}

// searched counts a search.
func (c *counters) searched(began time.Time) {
	c.searches.Add(1)
	c.nanoseconds.Add(int64(time.Since(began)))
}

// Stats returns the current statistics.
func (s *Set) Stats() Stats {
	c := &s.counters
	stats := Stats{
		Searches: c.searches.Load(), Scans: c.scans.Load(), SearchTime: time.Duration(c.nanoseconds.Load()),
		Builds: c.builds.Load(), Evictions: c.evictions.Load(),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stats.Bytes, stats.Limit = s.memory.total, s.memory.limit
	for _, partitions := range s.partitions {
		for _, p := range partitions {
			stats.Indexes++
			stats.Entries += int64(p.entries)
		}
	}
	return stats
}
