package bolt

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// pieceBytes is the size of a piece of a content. A content that is larger than pieceBytes is split
// into pieces, which are not stored in the record.
//
// bbolt rewrites a whole leaf page for each change of an entry, and splits a page only if the page
// has more than four entries. If contents were not split into pieces, the change of a small record
// on a page of large records would rewrite megabytes. The removal of a large record would also
// rewrite megabytes. Because of the pieces, no page of records or pieces is larger than 64 KiB.
//
// The size of a piece is chosen so that pieces fill whole pages. A page of 16 KiB contains the
// piece, a page header of 16 bytes, an element header of 16 bytes and a key of 8 bytes.
const pieceBytes = 16<<10 - 40

// apart is the first byte of the value of a record whose content is not stored in the record. The
// encoded record follows this byte, and contains a reference to the content. The encoded form of a
// record never begins with the byte "apart".
const apart = 0xC0

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// reference is the location of a content that is stored in pieces. The numbers of the pieces are
// consecutive.
type reference struct {
	first    uint64 // the number of the first piece
	bytes    int64
	checksum uint32 // CRC-32C of the content
}

// referenceBytes is the length of an encoded reference.
const referenceBytes = 8 + 8 + 4

func (r reference) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, r.first)
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.bytes))
	return binary.BigEndian.AppendUint32(dst, r.checksum)
}

// end returns the number that follows the number of the last piece.
func (r reference) end() uint64 { return r.first + uint64((r.bytes+pieceBytes-1)/pieceBytes) }

func pieceKey(number uint64) []byte { return binary.BigEndian.AppendUint64(nil, number) }

func isApart(value []byte) bool { return len(value) > 0 && value[0] == apart }

// encodedRecord extracts the encoded record from a value. The result is suitable for
// storage.HasVersion, which ignores the content.
func encodedRecord(value []byte) []byte {
	if isApart(value) {
		return value[1:]
	}
	return value
}

// decodeApart decodes the value of a record whose content is stored in pieces. decodeApart sets r
// to the record without the content. If decodeApart returns an error, r is the zero Record.
func decodeApart(r *storage.Record, k storage.Key, value []byte) (reference, error) {
	if err := r.Decode(k, value[1:]); err != nil {
		return reference{}, err
	}
	ref, ok := parseReference(r.Content)
	if !ok {
		*r = storage.Record{}
		return reference{}, damagedContent(k, "the reference is malformed")
	}
	r.Content = nil
	return ref, nil
}

func parseReference(data []byte) (r reference, ok bool) {
	if len(data) != referenceBytes {
		return reference{}, false
	}
	r = reference{binary.BigEndian.Uint64(data), int64(binary.BigEndian.Uint64(data[8:])), binary.BigEndian.Uint32(data[16:])}
	return r, r.bytes > pieceBytes && r.bytes <= storage.MaxContentBytes
}

// decodeInto decodes a value of the records bucket into r. The record r shares no memory with the
// mapped file. If decodeInto returns an error, r is the zero Record.
func decodeInto(r *storage.Record, tx *bbolt.Tx, k storage.Key, value []byte) error {
	if !isApart(value) {
		return r.Decode(k, value)
	}
	ref, err := decodeApart(r, k, value)
	if err != nil {
		return err
	}
	if r.Content, err = ref.read(tx.Bucket(contentsBucket), k); err != nil {
		*r = storage.Record{}
	}
	return err
}

// decodeRecord is like decodeInto, but returns a new record.
func decodeRecord(tx *bbolt.Tx, k storage.Key, value []byte) (r storage.Record, err error) {
	err = decodeInto(&r, tx, k, value)
	return r, err
}

// decodeHead is like decodeRecord, but the returned record has no content. decodeHead does not read
// any pieces.
func decodeHead(_ *bbolt.Tx, k storage.Key, value []byte) (h storage.Head, err error) {
	if !isApart(value) {
		return storage.DecodeHead(k, value)
	}
	ref, err := decodeApart(&h.Record, k, value)
	h.ContentBytes = ref.bytes
	return h, err
}

// read returns a copy of the content of the record under k.
func (r reference) read(contents *bbolt.Bucket, k storage.Key) ([]byte, error) {
	content := make([]byte, 0, r.bytes)
	c := contents.Cursor()
	number := r.first
	for key, piece := c.Seek(pieceKey(number)); number < r.end(); key, piece = c.Next() {
		want := min(pieceBytes, int(r.bytes)-len(content))
		if len(key) != 8 || binary.BigEndian.Uint64(key) != number || len(piece) != want {
			return nil, damagedContent(k, "a piece is missing")
		}
		content = append(content, piece...)
		number++
	}
	if crc32.Checksum(content, castagnoli) != r.checksum {
		return nil, damagedContent(k, "the checksum does not match")
	}
	return content, nil
}

func damagedContent(k storage.Key, why string) error {
	return fmt.Errorf("content of record %s: %w: %s", k, storage.ErrCorrupt, why)
}

// contents returns the bucket that contains the pieces. contents also sets nextPiece, before the
// transaction removes any content. If a transaction has deleted all entries of several pages,
// bbolt's Cursor.Last does not terminate.
func (t *transaction) contents() *bbolt.Bucket {
	contents := t.tx.Bucket(contentsBucket)
	if t.nextPiece == 0 {
		t.nextPiece = 1
		if last, _ := contents.Cursor().Last(); len(last) == 8 {
			t.nextPiece = binary.BigEndian.Uint64(last) + 1
		}
	}
	return contents
}

// encode returns the value that is stored for a record. The method stores a large content in
// pieces.
func (t *transaction) encode(r storage.Record) ([]byte, error) {
	if len(r.Content) <= pieceBytes {
		return storage.AppendRecord(nil, r), nil
	}
	contents := t.contents()
	ref := reference{t.nextPiece, int64(len(r.Content)), crc32.Checksum(r.Content, castagnoli)}
	for rest := r.Content; len(rest) > 0; t.nextPiece++ {
		n := min(pieceBytes, len(rest))
		if err := contents.Put(pieceKey(t.nextPiece), rest[:n]); err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	r.Content = ref.append(nil)
	return storage.AppendRecord([]byte{apart}, r), nil
}

// discard removes the pieces of the content of the record under k. If the content is not stored in
// pieces, discard does nothing.
func (t *transaction) discard(k storage.Key) error {
	value := t.records.Get([]byte(k))
	if !isApart(value) {
		return nil
	}
	var r storage.Record
	ref, err := decodeApart(&r, k, value)
	if err != nil {
		return err
	}
	contents := t.contents()
	for n := ref.first; n < ref.end(); n++ {
		if err := contents.Delete(pieceKey(n)); err != nil {
			return err
		}
	}
	return nil
}
