package bolt

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/storage"
)

// index identifies an index whose changes are deferred. The constants of type index are part of the
// file format.
type index byte

const (
	expiryIndex index = iota
	tagIndex
	indexes // the number of indexes
)

// indexBuckets contains the name of the bucket of each index.
var indexBuckets = [indexes][]byte{expiryBucket, tagsBucket}

// indexChanges contains changes to the indexes. An indexChanges maps each changed entry to true if
// the index contains the entry after the change.
type indexChanges [indexes]map[string]bool

func (c *indexChanges) set(in index, entry string, present bool) {
	if c[in] == nil {
		c[in] = make(map[string]bool)
	}
	c[in][entry] = present
}

// add adds later changes to c.
func (c *indexChanges) add(later indexChanges) {
	for in, changes := range later {
		for entry, present := range changes {
			c.set(index(in), entry, present)
		}
	}
}

func (c *indexChanges) empty() bool {
	return !slices.ContainsFunc(c[:], func(changes map[string]bool) bool { return len(changes) > 0 })
}

// The method "under" returns the changed entries of an index that begin with a prefix, in order.
func (c *indexChanges) under(in index, prefix []byte) []string {
	var found []string
	common := string(prefix)
	for entry := range c[in] {
		if strings.HasPrefix(entry, common) {
			found = append(found, entry)
		}
	}
	slices.Sort(found)
	return found
}

// change is a change of one entry of an index. The fields of the change are sufficient to construct
// the entry.
type change struct {
	key     storage.Key // of the record
	in      index
	value   string // the tag, or the start of the time slot
	present bool   // true if the index contains the entry after the change
}

// changeOf returns the change that describes an index entry and whether the entry is present.
func changeOf(in index, entry string, present bool) change {
	if in == expiryIndex {
		return change{storage.Key(entry[8:]), in, entry[:8], present}
	}
	_, tag, key, _ := tagOf([]byte(entry))
	return change{key, in, tag, present}
}

// entry returns the bytes of the index entry. The second result is false if the fields of the
// change are invalid.
func (c change) entry() ([]byte, bool) {
	if c.in == expiryIndex {
		return append([]byte(c.value), c.key...), len(c.value) == 8
	}
	group, _ := c.key.Group()
	return tagEntry(group, c.value, c.key), c.in == tagIndex
}

// sorted returns the changes in the order of the records' keys.
func (c *indexChanges) sorted() (all []change) {
	for in, changes := range c {
		for entry, present := range changes {
			all = append(all, changeOf(index(in), entry, present))
		}
	}
	slices.SortFunc(all, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.in, b.in), cmp.Compare(a.value, b.value))
	})
	return all
}

// A commit appends its changes in parts, so that the last page of the bucket has space for several
// parts. A part begins with a CRC-32C checksum. The checksum covers the key of the part and all
// bytes that follow the checksum. The first byte of an encoded change contains the fields "index"
// and "present". The second field is the length of the prefix that the key has in common with the
// key of the previous change in the part. The last fields of a change are the remaining bytes of
// the key, and the value. Numbers and lengths are unsigned varints.
const (
	partBytes  = 900 // the approximate size of a part; a part with one large change can be larger
	partHeader = 4   // the checksum
)

// partKey returns the key of a part from the number of a commit and the number of the part.
func partKey(commit, part int) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, uint64(commit)), uint32(part))
}

func partSum(key, part []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, part[partHeader:])
}

// encode encodes the changes of a commit and returns the encoded parts.
func (c *indexChanges) encode(commit int) (parts [][]byte) {
	end := func() {
		if last := len(parts) - 1; last >= 0 {
			binary.LittleEndian.PutUint32(parts[last], partSum(partKey(commit, last), parts[last]))
		}
	}
	var before storage.Key
	for _, ch := range c.sorted() {
		if len(parts) == 0 || len(parts[len(parts)-1]) > partBytes {
			end()
			parts, before = append(parts, make([]byte, partHeader, partBytes+256)), ""
		}
		last := &parts[len(parts)-1]
		*last, before = ch.append(*last, before), ch.key
	}
	end()
	return parts
}

// append encodes a change and appends the result to a part. The argument "before" is the key of the
// previous change.
func (c change) append(part []byte, before storage.Key) []byte {
	head := byte(c.in) << 1
	if c.present {
		head |= 1
	}
	shared := 0
	for shared < min(len(before), len(c.key)) && before[shared] == c.key[shared] {
		shared++
	}
	part = binary.AppendUvarint(append(part, head), uint64(shared))
	part = append(binary.AppendUvarint(part, uint64(len(c.key)-shared)), c.key[shared:]...)
	return append(binary.AppendUvarint(part, uint64(len(c.value))), c.value...)
}

// encodedChange contains the fields of an encoded change.
type encodedChange struct {
	in         index
	present    bool
	shared     int // the length of the common prefix of the key and the previous key
	end, value []byte
}

// cutChange decodes the change at the start of the argument "data", and returns the data after the
// change.
func cutChange(data []byte) (c encodedChange, rest []byte, ok bool) {
	shared, n := binary.Uvarint(data[1:])
	if n <= 0 || shared > storage.MaxKeyBytes {
		return c, nil, false
	}
	c = encodedChange{in: index(data[0] >> 1), present: data[0]&1 != 0, shared: int(shared)}
	if c.end, rest, ok = cutSized(data[1+n:]); !ok {
		return c, nil, false
	}
	c.value, rest, ok = cutSized(rest)
	return c, rest, ok
}

// wanted selects changes by their index and their tag or time slot. A nil function selects all
// changes.
type wanted func(in index, value []byte) bool

// decode decodes a part and adds the wanted changes to c.
func (c *indexChanges) decode(key, part []byte, want wanted) error {
	if len(part) < partHeader || binary.LittleEndian.Uint32(part) != partSum(key, part) {
		return fmt.Errorf("deferred changes to the indexes: %w: the checksum does not match", storage.ErrCorrupt)
	}
	var record []byte // the key of the previous change
	for rest := part[partHeader:]; len(rest) > 0; {
		encoded, left, ok := cutChange(rest)
		if !ok || encoded.shared > len(record) {
			return errMalformedChange
		}
		rest, record = left, append(record[:encoded.shared], encoded.end...)
		if want != nil && !want(encoded.in, encoded.value) {
			continue
		}
		entry, ok := change{storage.Key(record), encoded.in, string(encoded.value), encoded.present}.entry()
		if !ok {
			return errMalformedChange
		}
		c.set(encoded.in, string(entry), encoded.present)
	}
	return nil
}

var errMalformedChange = fmt.Errorf("deferred changes to the indexes: %w: a change is malformed", storage.ErrCorrupt)
