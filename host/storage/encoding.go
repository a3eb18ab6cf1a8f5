package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"time"
	"unsafe"
)

// Backends that store bytes use the following encoded form of a record:
//
//	format   1 byte, recordFormat
//	checksum 4 bytes, CRC-32C of the key and of everything after the checksum
//	created, updated, expires   8 bytes each, microseconds since 1970
//	revision   varint
//	generation, run   varint length and bytes
//	tags   varint count, then each as length and bytes
//	content   the rest
//
// Integers are little-endian. The encoded form does not contain the key, but the checksum covers
// the key. Therefore, a record under a wrong key is reported as corrupt.
const (
	recordFormat = 1
	recordHeader = 1 + 4 + 3*8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendRecord appends the encoded form of r, without its key, to dst.
func AppendRecord(dst []byte, r Record) []byte {
	start := len(dst)
	dst = slices.Grow(dst, recordHeader+len(r.Content)+len(r.Generation)+len(r.Run)+64)
	dst = append(dst, recordFormat, 0, 0, 0, 0)
	for _, t := range []time.Time{r.Created, r.Updated, r.Expires} {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(t.UnixMicro()))
	}
	dst = binary.AppendUvarint(dst, uint64(r.Revision))
	dst = appendString(dst, r.Generation)
	dst = appendString(dst, r.Run)
	dst = binary.AppendUvarint(dst, uint64(len(r.Tags)))
	for _, tag := range r.Tags {
		dst = appendString(dst, tag)
	}
	dst = append(dst, r.Content...)
	binary.LittleEndian.PutUint32(dst[start+1:], checksum(r.Key, dst[start+5:]))
	return dst
}

// DecodeRecord decodes the record under a key. The argument "data" must be the encoded form that
// AppendRecord has appended. The decoded record shares no memory with the argument "data". If the
// argument "data" is damaged, the error wraps ErrCorrupt and contains the key.
func DecodeRecord(key Key, data []byte) (Record, error) {
	var r Record
	err := r.Decode(key, data)
	return r, err
}

// Decode is like DecodeRecord, but decodes into r. After an error, r is the zero Record.
func (r *Record) Decode(key Key, data []byte) error {
	content, err := r.decode(key, data)
	r.Content = bytes.Clone(content)
	return err
}

// DecodeHead is like DecodeRecord, but returns only the head. DecodeHead verifies the checksum, but
// does not copy the content.
func DecodeHead(key Key, data []byte) (Head, error) {
	var h Head
	content, err := h.decode(key, data)
	h.ContentBytes = int64(len(content))
	return h, err
}

// HasVersion reports whether the argument "data" is the encoded form of the version v of a record.
// If v is the version of a record that does not exist, the argument "data" must be nil. HasVersion
// does not verify the checksum, so its cost does not depend on the size of the content.
func HasVersion(data []byte, v Version) (bool, error) {
	if data == nil {
		return v.Revision == 0 && v.Generation == "", nil
	}
	if len(data) < recordHeader || data[0] != recordFormat {
		return false, corrupt(v.Key, "truncated, or in another format")
	}
	d := decoder{rest: data[recordHeader:]}
	revision, generation := int64(d.uvarint()), d.take(d.uvarint())
	return !d.failed && revision == v.Revision && string(generation) == v.Generation, nil
}

// decode sets r to the record without its content, and returns the content as a subslice of data.
func (r *Record) decode(key Key, data []byte) ([]byte, error) {
	*r = Record{}
	if len(data) < recordHeader {
		return nil, corrupt(key, "truncated")
	}
	if data[0] != recordFormat {
		return nil, corrupt(key, fmt.Sprintf("format %d; want %d", data[0], recordFormat))
	}
	if binary.LittleEndian.Uint32(data[1:]) != checksum(key, data[5:]) {
		return nil, corrupt(key, "checksum mismatch")
	}
	d := decoder{rest: data[5:]}
	r.fill(key, &d)
	if d.failed || !r.Exists() {
		*r = Record{}
		return nil, corrupt(key, "malformed")
	}
	return d.rest, nil
}

func (r *Record) fill(key Key, d *decoder) {
	r.Key, r.Created, r.Updated, r.Expires = key, d.time(), d.time(), d.time()
	r.Revision = int64(d.uvarint())
	r.Generation, r.Run = d.string(), d.string()
	for n := d.uvarint(); n > 0 && !d.failed; n-- {
		r.Tags = append(r.Tags, d.string())
	}
}

func corrupt(key Key, why string) error {
	return fmt.Errorf("record %s: %w: %s", key, ErrCorrupt, why)
}

// checksum computes a checksum over a key, and over the encoded data that follows the stored
// checksum. The function reads the bytes of the key in place, because a copy would cost an
// allocation for each read.
func checksum(key Key, data []byte) uint32 {
	return crc32.Update(crc32.Checksum(unsafe.Slice(unsafe.StringData(string(key)), len(key)), castagnoli), castagnoli, data)
}

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// decoder decodes values from the beginning of the field "rest". After a failure, all methods of
// decoder return zero values.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) take(n uint64) []byte {
	if d.failed || n > uint64(len(d.rest)) {
		d.failed = true
		return nil
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.failed = true
		return 0
	}
	d.take(uint64(n))
	return v
}

func (d *decoder) string() string { return string(d.take(d.uvarint())) }

func (d *decoder) time() time.Time {
	b := d.take(8)
	if b == nil {
		return time.Time{}
	}
	return time.UnixMicro(int64(binary.LittleEndian.Uint64(b))).UTC()
}
