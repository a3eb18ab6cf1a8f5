package bolt

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// The file is a bbolt database with these buckets. Index entries have no value.
var (
	metaBucket    = []byte("meta")         // what the file is
	recordsBucket = []byte("records")      // key -> record without its key
	expiryBucket  = []byte("expiry-slots") // slot of time and key of each record that expires
	endsBucket    = []byte("ends")         // tag and key for each end tag of each record
	usageBucket   = []byte("usage")        // usage key -> usage record
	floorsBucket  = []byte("floors")       // floor key -> floor record
	allBuckets    = [][]byte{metaBucket, recordsBucket, expiryBucket, endsBucket, usageBucket, floorsBucket}
)

// Keys of the meta bucket. The file name says nothing and a bbolt file may be anybody's: formatKey is the
// mark that the file was initialised by this package.
var (
	formatKey  = []byte("toolrun-storage-format")
	createdKey = []byte("created")
)

// format is the version of the layout, which Open requires.
const format = 3

// initialise makes an empty database ours.
func initialise(tx *bbolt.Tx, now time.Time) error {
	for _, name := range allBuckets {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	meta := tx.Bucket(metaBucket)
	if err := meta.Put(formatKey, []byte(strconv.Itoa(format))); err != nil {
		return err
	}
	return meta.Put(createdKey, []byte(now.UTC().Format(time.RFC3339)))
}

// checkFormat returns an error unless the database is ours, of the current format and complete.
func checkFormat(tx *bbolt.Tx) error {
	meta := tx.Bucket(metaBucket)
	if meta == nil || meta.Get(formatKey) == nil {
		return errForeign
	}
	if got := string(meta.Get(formatKey)); got != strconv.Itoa(format) {
		return fmt.Errorf("it has storage format %q and this version reads format %d only: "+
			"use the version that wrote it, or start with a new file", got, format)
	}
	for _, name := range allBuckets {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("%w: the bucket %q is missing", storage.ErrCorrupt, name)
		}
	}
	return nil
}

// expirySlot is how exact the index of those that expire is, in microseconds: about nine minutes. A record that
// is written again and again keeps its entry for that long, which spares each commit two pages or three; a sweep
// looks at the records of the current slot in vain, outside of commits.
const expirySlot = 1 << 29

// slotOf is where the slot begins that a time is in.
func slotOf(t time.Time) time.Time {
	return time.UnixMicro(t.UnixMicro() &^ (expirySlot - 1)).UTC()
}

// expiryEntry is the index entry of a record that expires. Entries are in the order of time.
func expiryEntry(expires time.Time, key storage.Key) []byte {
	const signBit = 1 << 63 // flipped, negative numbers sort before the others
	entry := binary.BigEndian.AppendUint64(nil, uint64(slotOf(expires).UnixMicro())^signBit)
	return append(entry, key...)
}

// expiryOf takes an entry apart again: the record under key does not expire before the time.
func expiryOf(entry []byte) (time.Time, storage.Key, bool) {
	if len(entry) < 8 {
		return time.Time{}, "", false
	}
	micros := int64(binary.BigEndian.Uint64(entry) ^ 1<<63)
	return time.UnixMicro(micros).UTC(), storage.Key(entry[8:]), true
}

// endEntry is the index entry of one end tag of a record. The length before the tag keeps one tag from
// running into the key or into a longer tag; with a prefix for the key it is the prefix of its entries.
func endEntry(tag string, key storage.Key) []byte {
	entry := binary.AppendUvarint(nil, uint64(len(tag)))
	return append(append(entry, tag...), key...)
}

// endOf takes an entry apart again.
func endOf(entry []byte) (tag string, key storage.Key, ok bool) {
	size, n := binary.Uvarint(entry)
	if n <= 0 || size > uint64(len(entry)-n) {
		return "", "", false
	}
	rest := entry[n:]
	return string(rest[:size]), storage.Key(rest[size:]), true
}
