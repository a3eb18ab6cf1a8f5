package bolt

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// bbolt writes a leaf page anew for each change to one of its entries, and splits none of up to four entries: a small
// record beside large ones would cost a write of megabytes, and so would the removal of one of these. A content of more
// than pieceBytes is therefore stored apart from its record, cut into pieces of that size. A record then has a page with
// at most 64 KiB, and so has a piece.
//
// pieceBytes is such that any number of pieces fills whole pages: 16 KiB, less 16 bytes for the header of a page, 16 for
// the element and 8 for the key.
const pieceBytes = 16<<10 - 40

// apart is the first byte of a record whose content is stored apart from it. The encoded record follows, which has a
// reference for its content. No other encoded record begins with it.
const apart = 0xC0

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// reference says where a content is that is stored apart from its record: in pieces with consecutive numbers.
type reference struct {
	first    uint64 // number of the first piece
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

// end returns the number behind that of the last piece.
func (r reference) end() uint64 { return r.first + uint64((r.bytes+pieceBytes-1)/pieceBytes) }

func pieceKey(number uint64) []byte { return binary.BigEndian.AppendUint64(nil, number) }

func isApart(value []byte) bool { return len(value) > 0 && value[0] == apart }

// encodedRecord returns the encoded record in a value, with which storage.HasVersion works whether or not the content is
// in it.
func encodedRecord(value []byte) []byte {
	if isApart(value) {
		return value[1:]
	}
	return value
}

// decodeApart decodes a value of a record whose content is stored apart from it, and makes r the record without it. After
// an error r is the zero Record.
func decodeApart(r *storage.Record, k storage.Key, value []byte) (reference, error) {
	if err := r.Decode(k, value[1:]); err != nil {
		return reference{}, err
	}
	ref, ok := parseReference(r.Content)
	if !ok {
		*r = storage.Record{}
		return reference{}, damagedContent(k, "the reference to it is malformed")
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

// decodeInto decodes a value of the bucket of records into r, which shares no memory with the file. After an error r is
// the zero Record.
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

// decodeRecord is decodeInto for a record of its own.
func decodeRecord(tx *bbolt.Tx, k storage.Key, value []byte) (r storage.Record, err error) {
	err = decodeInto(&r, tx, k, value)
	return r, err
}

// decodeHead is decodeRecord without the content. It does not read one that is stored apart.
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
			return nil, damagedContent(k, "a piece of it is missing")
		}
		content = append(content, piece...)
		number++
	}
	if crc32.Checksum(content, castagnoli) != r.checksum {
		return nil, damagedContent(k, "its checksum does not fit")
	}
	return content, nil
}

func damagedContent(k storage.Key, why string) error {
	return fmt.Errorf("content of record %s: %w: %s", k, storage.ErrCorrupt, why)
}

// contents returns the bucket of contents, and sees to it that nextPiece is known before anything is removed: a cursor of
// bbolt looks for the last entry without end if those of several pages were all deleted in its transaction.
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

// encode returns the value under which a record is stored, and stores its content if that belongs apart.
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

// discard removes the content of the record under k if it is stored apart.
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
