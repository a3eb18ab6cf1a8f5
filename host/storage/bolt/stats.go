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
	// FileBytes is the size of the file. The file never shrinks; see Compact.
	FileBytes int64
	// Bytes is the total size of all records, including the host's own records. Records is the
	// number of records in the stores of all tenants. Bytes and Records are counted in the same way
	// as for quotas.
	Bytes   int64
	Records int64
	// DiskFree is the number of bytes that are free for this process on the disk of the file.
	// DiskFree is -1 if the number is unknown.
	DiskFree int64
	// LongestWork is the longest time that a commit has taken to execute its requests since the
	// database was opened. Other updates wait while a commit executes its requests. The write to
	// the disk is not included in LongestWork. Readers do not wait for commits.
	LongestWork time.Duration
}

// statsAge is the maximum age of the cached result of Stats. The result is cached because Stats
// reads the usage of all apps of all tenants.
const statsAge = 10 * time.Second

// stats contains the cached result of Stats.
type stats struct {
	mu          sync.Mutex
	until       time.Time
	found       Stats
	longestWork atomic.Int64 // in nanoseconds
}

// worked records the execution time of a commit's requests. The argument "began" is the time at
// which the execution started. Commits do not overlap.
func (s *stats) worked(began time.Time) {
	s.longestWork.Store(max(s.longestWork.Load(), int64(time.Since(began))))
}

// Stats returns measurements of the database, which are up to ten seconds old. If the database
// cannot be read, Stats returns the previous measurements. Stats is safe for concurrent use.
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

// eachApp calls the function "do" with the usage of each account that is not a user account. The
// accounts of apps and the separate accounts of ledger entries and metering records are included.
// eachApp skips user accounts, because the account of an app includes the app's users.
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
