package bolt

import (
	"bytes"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// Stats describes a database, for metrics.
type Stats struct {
	// FileBytes is the size of the file. It does not shrink by itself; see Compact.
	FileBytes int64
	// Bytes is the size of all records, the host's own included, and Records counts the records of stores: of all
	// tenants, as their quotas count them.
	Bytes   int64
	Records int64
	// DiskFree is how many bytes are free on the disk of the file for this process, -1 if that is unknown.
	DiskFree int64
	// LongestWork is the longest that requests were carried out in one commit since the database was opened. That is how
	// long other commits waited for it besides the time that it took to write; readers wait for none.
	LongestWork time.Duration
}

// statsAge is how long the answer of Stats holds. It takes a look at the usage of each app of each tenant.
const statsAge = 10 * time.Second

// stats is the last answer of Stats.
type stats struct {
	mu          sync.Mutex
	until       time.Time
	found       Stats
	longestWork atomic.Int64 // in nanoseconds
}

// worked notes how long the requests of a commit took, which began at a time. Commits do not overlap.
func (s *stats) worked(began time.Time) {
	s.longestWork.Store(max(s.longestWork.Load(), int64(time.Since(began))))
}

// Stats describes the database, up to ten seconds late. It is safe for concurrent use. A database that cannot be read
// keeps the numbers that were found last.
func (b *Backend) Stats() Stats {
	s := &b.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := b.space.now(); !now.Before(s.until) {
		s.until = now.Add(statsAge)
		if found, err := b.count(); err == nil {
			s.found = found
		}
	}
	found := s.found
	found.LongestWork = time.Duration(s.longestWork.Load())
	return found
}

func (b *Backend) count() (found Stats, err error) {
	found.DiskFree = -1
	if free, _, err := b.space.disk(filepath.Dir(b.fd.Name())); err == nil {
		found.DiskFree = free
	}
	err = b.read(func(tx *bbolt.Tx) error {
		found.FileBytes = tx.Size()
		return eachApp(tx, func(u storage.Usage) { found.Bytes, found.Records = found.Bytes+u.Bytes, found.Records+u.Records })
	})
	return found, err
}

// eachApp calls do with the usage of each app of each tenant, and of what is counted apart from them. It leaves out
// users, who are counted in their apps, without looking at them.
func eachApp(tx *bbolt.Tx, do func(storage.Usage)) error {
	c := tx.Bucket(usageBucket).Cursor()
	for k, v := c.First(); k != nil; {
		usage, err := decodeUsage(storage.Key(k), v)
		if err != nil {
			return err
		}
		do(usage)
		k, v = c.Seek(append(bytes.Clone(k), byte(storage.User)+1))
	}
	return nil
}
