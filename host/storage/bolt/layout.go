package bolt

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// The buckets of the file. Index entries have a key but no value.
var (
	metaBucket     = []byte("meta")         // format and creation time
	recordsBucket  = []byte("records")      // key -> record without its key
	contentsBucket = []byte("contents")     // number -> piece of a content
	expiryBucket   = []byte("expiry-slots") // time slot and key of each record that expires
	tagsBucket     = []byte("tags")         // group, tag and key for each tag of each record
	deferredBucket = []byte("deferred")     // commit -> changes that the two indexes above do not contain yet
	usageBucket    = []byte("usage")        // account -> usage
	floorsBucket   = []byte("floors")       // floor key -> floor record
	allBuckets     = [][]byte{metaBucket, recordsBucket, contentsBucket, expiryBucket, tagsBucket, deferredBucket, usageBucket, floorsBucket}
)

// The keys of the meta bucket. Other programs can use the same file name and the bbolt format. The
// entry under formatKey identifies a file that this package has initialized.
var (
	formatKey  = []byte("toolrun-storage-format")
	createdKey = []byte("created")
)

// format is the version of the file format, which includes the layout of the buckets and the
// contents of the records. Open accepts a file only if the version of the file is equal to format.
// If older versions of toolrun cannot read a changed format, the constant needs a new number here
// and in the other backends.
const format = 8

// initialise creates the buckets and the meta entries in an empty database.
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

// checkFormat returns an error if the database is incomplete, if another program created the
// database, or if the format is not the current format.
func checkFormat(tx *bbolt.Tx) error {
	meta := tx.Bucket(metaBucket)
	if meta == nil || meta.Get(formatKey) == nil {
		return errForeign
	}
	if got := string(meta.Get(formatKey)); got != strconv.Itoa(format) {
		return fmt.Errorf("the storage format is %q, but this version requires format %d: "+
			"use the version of toolrun that wrote the file, or use a new file", got, format)
	}
	for _, name := range allBuckets {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("%w: the bucket %q is missing", storage.ErrCorrupt, name)
		}
	}
	return nil
}

// expirySlot is the resolution of the expiry index, in microseconds: about nine minutes. If a
// record is written repeatedly, its index entry changes only every nine minutes. The coarse
// resolution saves two or three page writes per commit. The disadvantage is that a sweep also reads
// the records of the current slot that have not expired. A sweep reads the records of a slot
// outside commits.
const expirySlot = 1 << 29

// slotOf returns the start of the slot that contains a time.
func slotOf(t time.Time) time.Time {
	return time.UnixMicro(t.UnixMicro() &^ (expirySlot - 1)).UTC()
}

// expiryEntry returns the index entry of a record with an expiry. Entries are ordered by time.
func expiryEntry(expires time.Time, key storage.Key) []byte {
	const signBit = 1 << 63 // flip the sign bit, because negative numbers must sort first
	entry := binary.BigEndian.AppendUint64(nil, uint64(slotOf(expires).UnixMicro())^signBit)
	return append(entry, key...)
}

// expiryOf parses an entry of the expiry index. expiryOf returns the key of the record and the
// start of the slot. The record does not expire before the start of the slot.
func expiryOf(entry []byte) (time.Time, storage.Key, bool) {
	if len(entry) < 8 {
		return time.Time{}, "", false
	}
	micros := int64(binary.BigEndian.Uint64(entry) ^ 1<<63)
	return time.UnixMicro(micros).UTC(), storage.Key(entry[8:]), true
}

// tagEntry returns the index entry of one tag of a record. The group and the tag are preceded by
// their lengths. If the argument "key" is a prefix of keys, tagEntry returns the common prefix of
// the entries for the keys.
func tagEntry(group storage.Key, tag string, key storage.Key) []byte {
	entry := make([]byte, 0, 2*binary.MaxVarintLen32+len(group)+len(tag)+len(key))
	entry = append(binary.AppendUvarint(entry, uint64(len(group))), group...)
	entry = append(binary.AppendUvarint(entry, uint64(len(tag))), tag...)
	return append(entry, key...)
}

// tagOf parses an entry of the tag index.
func tagOf(entry []byte) (group storage.Key, tag string, key storage.Key, ok bool) {
	first, rest, ok := cutSized(entry)
	if !ok {
		return "", "", "", false
	}
	second, rest, ok := cutSized(rest)
	return storage.Key(first), string(second), storage.Key(rest), ok
}

// cutSized decodes the length at the start of the argument "data". cutSized returns as many bytes
// as the length specifies, and the remaining data.
func cutSized(data []byte) (taken, rest []byte, ok bool) {
	size, n := binary.Uvarint(data)
	if n <= 0 || size > uint64(len(data)-n) {
		return nil, nil, false
	}
	return data[n : n+int(size)], data[n+int(size):], true
}
