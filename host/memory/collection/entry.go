package collection

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage"
)

// entryFormat is the first byte of the content of an entry's record. The content has this form:
//
//	format   1 byte, entryFormat
//	state    1 byte, pending or complete
//	space    8 bytes, the kind.SpaceID of the vector
//	length   varint, the length of the text
//	text     the JSON text of the content and the metadata
//	vector   the rest: numbers of 4 bytes each (IEEE 754, little-endian)
//
// The text of a pending entry has not been embedded yet. The vector of a pending entry consists of
// zeros. Pending entries exist only in runs that have not been committed.
const entryFormat = 2

// headBytes is the total size of three fields: the format, the state and the id of the vector
// space.
const headBytes = 2 + len(kind.SpaceID{})

// These constants are the states of an entry.
const (
	complete byte = 0
	pending  byte = 1
)

// maxDim is the maximum dimension of a vector.
const maxDim = 16_384

// stored is the JSON text of an entry.
type stored struct {
	Content  json.RawMessage `json:"content"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// entry is the decoded content of a record.
type entry struct {
	text   json.RawMessage // a value of the type stored, as JSON
	vector []byte
	space  kind.SpaceID
	state  byte
}

// encode encodes an entry as the content of a record.
func (e entry) encode() []byte {
	content := make([]byte, 0, headBytes+binary.MaxVarintLen32+len(e.text)+len(e.vector))
	content = append(content, entryFormat, e.state)
	content = append(content, e.space[:]...)
	content = binary.AppendUvarint(content, uint64(len(e.text)))
	return append(append(content, e.text...), e.vector...)
}

var errEntry = errors.New("malformed entry of a collection")

// decode decodes the content of a record and returns the entry. The returned entry shares memory
// with the content.
func decode(content []byte) (entry, error) {
	if len(content) <= headBytes || content[0] != entryFormat || content[1] > pending {
		return entry{}, errEntry
	}
	size, n := binary.Uvarint(content[headBytes:])
	rest := content[headBytes+max(n, 0):]
	if n <= 0 || size > uint64(len(rest)) || (uint64(len(rest))-size)%4 != 0 || len(rest)-int(size) > 4*maxDim {
		return entry{}, errEntry
	}
	return entry{text: rest[:size:size], vector: rest[size:], space: kind.SpaceID(content[2:headBytes]), state: content[1]}, nil
}

// stored returns the content and the metadata of the entry.
func (e entry) stored() (s stored, err error) {
	if err := json.Unmarshal(e.text, &s); err != nil || len(s.Content) == 0 {
		return s, errEntry
	}
	return s, nil
}

// encodeVector returns the stored form of a vector.
func encodeVector(vector []float32) []byte {
	out := make([]byte, 0, 4*len(vector))
	for _, x := range vector {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// decodeVector returns the vector for a result of encodeVector.
func decodeVector(text []byte) []float32 {
	vector := make([]float32, len(text)/4)
	for i := range vector {
		vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(text[4*i:]))
	}
	return vector
}

// searchText returns the text that represents a content in searches. If the content is not a text,
// searchText returns its canonical JSON, which is also the stored form of the content.
func searchText(content json.RawMessage) string {
	var text string
	if len(content) > 0 && content[0] == '"' && json.Unmarshal(content, &text) == nil {
		return text
	}
	return string(content)
}

// decodeIn returns the function that decodes a record to an entry of an index. If the vector of the
// record belongs to another vector space, the entry of the index has no vector. If the retention
// was shortened after the write of the record, the entry of the index expires earlier than the
// record.
func (st *store) decodeIn(space kind.SpaceID) index.Decode {
	return func(r storage.Record) (index.Entry, error) { return st.indexed(r, space) }
}

func (st *store) indexed(r storage.Record, space kind.SpaceID) (index.Entry, error) {
	e, err := indexed(r, space)
	if st.retention > 0 && !r.Updated.IsZero() {
		if end := r.Updated.Add(st.retention); e.Expires.IsZero() || end.Before(e.Expires) {
			e.Expires = end
		}
	}
	return e, err
}

// indexed converts a record to an entry of an index. Unlike store.indexed, it ignores the
// retention.
func indexed(r storage.Record, space kind.SpaceID) (index.Entry, error) {
	e, err := decode(r.Content)
	if err != nil {
		return index.Entry{}, fmt.Errorf("record %s: %w: %w", r.Key, storage.ErrCorrupt, err)
	}
	s, err := e.stored()
	if err != nil {
		return index.Entry{}, fmt.Errorf("record %s: %w: %w", r.Key, storage.ErrCorrupt, err)
	}
	found := index.Entry{Key: r.Key, Revision: r.Revision, Expires: r.Expires, Text: searchText(s.Content)}
	if e.state == complete && e.space == space {
		found.Vector = decodeVector(e.vector)
	}
	if len(s.Metadata) > 0 {
		metadata, err := kind.Decode(s.Metadata)
		if err != nil {
			return index.Entry{}, fmt.Errorf("record %s: %w: %w", r.Key, storage.ErrCorrupt, err)
		}
		found.Metadata, _ = metadata.(map[string]any)
	}
	return found, nil
}
