package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// Report is the result of Check.
type Report struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
	// FileBytes is the size of the file. The file never shrinks, but its free pages are reused. See
	// Compact.
	FileBytes int64 `json:"file_bytes"`
	// Records is the number of readable records, and Bytes is the total size of the readable
	// records. The host's own records are included.
	Records int64 `json:"records"`
	Bytes   int64 `json:"bytes"`
	// Problems lists the first 100 problems. Problems is empty if the file is intact. Restore a
	// damaged file from a backup. The intact records of a damaged file can still be read.
	Problems []Problem `json:"problems"`
	// Omitted is the number of problems that are not listed.
	Omitted int `json:"omitted,omitempty"`
}

// Problem is one defect of a file.
type Problem struct {
	// Kind is "pages", "record", "content", "index", "tag", "usage" or "floor". The kind "pages"
	// means that pages of the file are damaged.
	Kind string `json:"kind"`
	// Key is the record's key as text, if the problem concerns a record.
	Key  string `json:"key,omitempty"`
	Text string `json:"text"`
}

const maxProblems = 100

// OK reports whether the file has no problems.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

func (r *Report) add(kind string, key storage.Key, text string, args ...any) {
	if len(r.Problems) == maxProblems {
		r.Omitted++
		return
	}
	p := Problem{Kind: kind, Text: fmt.Sprintf(text, args...)}
	if key != "" {
		p.Key = key.String()
	}
	r.Problems = append(r.Problems, p)
}

// Check reads the whole database at path and reports the problems of the database. Examples are
// damaged pages, wrong checksums, wrong usage counters, and indexes that do not match the records.
// The file must not be open in a backend.
//
// Check returns an error if the file does not exist, if the file is in use, or if Open does not
// accept the format of the file.
func Check(path string) (Report, error) {
	report := Report{Problems: []Problem{}}
	s, err := openSnapshot(path, time.Second)
	if errors.Is(err, storage.ErrCorrupt) {
		report.add("pages", "", "%v", err)
		return report, nil
	}
	if err != nil {
		return report, fmt.Errorf("check database %s: %w", path, err)
	}
	defer s.close()
	report.FileBytes = s.size
	if s.damaged {
		report.add("pages", "", "one of the two header pages is damaged; the last commit may be lost")
	}
	lost, err := checkPages(s.raw, s.header)
	if err != nil {
		report.add("pages", "", "%v", err)
		return report, nil
	}
	if lost > 0 {
		report.add("pages", "", "%d pages are neither in use nor free", lost)
	}
	err = s.view(func(tx *bbolt.Tx) error {
		if err := checkFormat(tx); err != nil {
			return err
		}
		c := checker{Report: &report, tx: tx, buckets: openBuckets(tx), counted: make(map[storage.Key]storage.Usage)}
		c.readMeta(tx.Bucket(metaBucket))
		c.checkAll()
		return nil
	})
	if errors.Is(err, storage.ErrCorrupt) {
		report.add("pages", "", "%v", err)
		return report, nil
	}
	if err != nil {
		return report, fmt.Errorf("check database %s: %w", path, err)
	}
	return report, nil
}

// checker compares the buckets of a file with each other.
type checker struct {
	*Report
	tx *bbolt.Tx
	buckets
	deferred indexChanges
	counted  map[storage.Key]storage.Usage // the readable records
	apart    []reference                   // the contents that are not stored in their records
}

func (c *checker) readMeta(meta *bbolt.Bucket) {
	c.Format = format
	created, err := time.Parse(time.RFC3339, string(meta.Get(createdKey)))
	if err != nil {
		c.add("pages", "", "the creation time is unreadable")
	}
	c.Created = created
}

func (c *checker) checkAll() {
	var err error
	if c.deferred, _, err = readDeferred(c.tx, nil); err != nil {
		c.add("index", "", "%v", err)
	}
	c.each(c.records, c.checkRecord)
	c.checkPieces()
	c.eachEntry(expiryIndex, func(entry []byte) {
		expires, key, ok := expiryOf(entry)
		c.checkEntry(key, ok, func(r storage.Record) bool { return !r.Expires.IsZero() && slotOf(r.Expires).Equal(expires) })
	})
	c.eachEntry(tagIndex, func(entry []byte) {
		group, tag, key, ok := tagOf(entry)
		c.checkEntry(key, ok, func(r storage.Record) bool { return storage.Selector{Group: group, Tag: tag}.Matches(r) })
	})
	c.each(c.usage, c.checkUsage)
	c.each(c.floors, c.checkFloor)
	for account, u := range c.counted {
		c.add("usage", account, "%d records and %d bytes are missing from the counters", u.Records, u.Bytes)
	}
}

// The method "each" calls fn for every entry of a bucket. For each entry, the method also checks
// that a look-up of the key finds the same entry.
func (c *checker) each(bucket *bbolt.Bucket, fn func(k, v []byte)) {
	scan := bucket.Cursor()
	for k, v := scan.First(); k != nil; k, v = scan.Next() {
		if !has(bucket, k) {
			c.add("pages", "", "a lookup does not find the entry: %s", storage.Key(k))
		}
		fn(k, v)
	}
}

// eachEntry applies the deferred changes to an index and calls fn for each resulting entry. Like
// the method "each", eachEntry checks that a look-up of the key finds the entry.
func (c *checker) eachEntry(in index, fn func(entry []byte)) {
	c.each(c.tx.Bucket(indexBuckets[in]), func(_, _ []byte) {})
	for entry := range indexEntries(c.tx, c.deferred, in, nil, nil) {
		fn(entry)
	}
}

// indexed reports whether an index contains an entry.
func (c *checker) indexed(in index, entry []byte) bool {
	if present, changed := c.deferred[in][string(entry)]; changed {
		return present
	}
	return has(c.tx.Bucket(indexBuckets[in]), entry)
}

func has(bucket *bbolt.Bucket, k []byte) bool {
	found, _ := bucket.Cursor().Seek(k)
	return found != nil && bytes.Equal(found, k)
}

func (c *checker) checkRecord(k, v []byte) {
	r, err := decodeHead(c.tx, storage.Key(k), v)
	if err != nil {
		c.add("record", storage.Key(k), "%v", err)
		return
	}
	if isApart(v) {
		c.checkContent(storage.Key(k), v)
	}
	c.Records++
	c.Bytes += r.Size()
	for _, account := range r.Accounts() {
		c.counted[account] = c.counted[account].Plus(storage.UsageOf(r))
	}
	if !r.Expires.IsZero() && !c.indexed(expiryIndex, expiryEntry(r.Expires, r.Key)) {
		c.add("index", r.Key, "the record expires but is not in the expiry index")
	}
	group, _ := r.Key.Group()
	for _, tag := range r.Tags {
		if !c.indexed(tagIndex, tagEntry(group, tag, r.Key)) {
			c.add("index", r.Key, "the tag %q is not in the tag index", tag)
		}
	}
	if user := r.Key.Part(storage.User); user != "" && !slices.Contains(r.Tags, storage.SubjectTag(user)) {
		c.add("tag", r.Key, "the key contains a user but the record lacks the user's tag; an erasure would miss the record")
	}
}

func (c *checker) checkEntry(key storage.Key, ok bool, matches func(storage.Record) bool) {
	if !ok {
		c.add("index", "", "an entry is malformed")
		return
	}
	found, err := fetchHead(c.tx, key)
	if err != nil {
		return // the damaged record has already been reported
	}
	if !matches(found.Record) {
		c.add("index", key, "an entry does not match its record")
	}
}

func (c *checker) checkFloor(k, v []byte) {
	key := storage.Key(k)
	if _, err := storage.DecodeRecord(key, v); err != nil {
		c.add("floor", key, "%v", err)
	}
}

func (c *checker) checkUsage(k, v []byte) {
	account := storage.Key(k)
	actual := c.counted[account]
	delete(c.counted, account)
	u, err := decodeUsage(account, v)
	if err != nil {
		c.add("usage", account, "%v", err)
		return
	}
	if u != actual {
		c.add("usage", account, "the counter has %d records and %d bytes; the file contains %d and %d", u.Records, u.Bytes, actual.Records, actual.Bytes)
	}
}
