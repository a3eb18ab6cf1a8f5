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

// Stats are measurements of a database, for metrics.
type Stats struct {
	// FileBytes is the size of the file. It does not shrink by itself; see Compact.
	FileBytes int64
	// Bytes is the size of all records of all tenants, the host's own included, and Records the
	// number of records of stores, both as quotas count them.
	Bytes   int64
	Records int64
	// DiskFree is the number of bytes on the disk of the file that are free for this process, -1 if
	// that is unknown.
	DiskFree int64
	// LongestWork is the longest time for which one commit executed requests since the database was
	// opened. Other commits waited for it so long, in addition to the time that it took to write.
	// Readers do not wait for commits.
	LongestWork time.Duration
}

// statsAge is the time for which the answer of Stats is cached. It reads the usage of each app of
// each tenant.
const statsAge = 10 * time.Second

// stats is the cached answer of Stats.
type stats struct {
	mu          sync.Mutex
	until       time.Time
	found       Stats
	longestWork atomic.Int64 // in nanoseconds
}

// worked records the time for which the requests of a commit were executed, since began. Commits do
// not overlap.
func (s *stats) worked(began time.Time) {
	s.longestWork.Store(max(s.longestWork.Load(), int64(time.Since(began))))
}

// Stats returns measurements of the database, which are up to ten seconds old. If the database
// cannot be read, they are the last ones. It is safe for concurrent use.
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

// eachApp calls do with the usage of each app of each tenant, and of the accounts that are separate
// from apps. It skips the accounts of users, which are included in those of their apps.
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
