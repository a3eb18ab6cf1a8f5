package collection

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
)

// The decoder never panics, whatever bytes are stored. A decoded entry can be encoded and decoded
// again. The result is the same entry.
func FuzzDecode(f *testing.F) {
	f.Add(entry{text: json.RawMessage(`{"content":"tea","metadata":{"a":1}}`), vector: encodeVector([]float32{1, 0, -0.5})}.encode())
	f.Add(entry{text: json.RawMessage(`{"content":{"a":[]}}`), vector: make([]byte, 8), state: pending}.encode())
	f.Add([]byte{entryFormat, complete, 1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Add([]byte{entryFormat, complete, 1, 2, 3, 4, 5, 6, 7, 8, 3, 'a'})
	f.Add([]byte{entryFormat, complete, 3, 'a'})
	f.Add([]byte(`{"content":"tea"}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		e, err := decode(content)
		if err != nil {
			return
		}
		again, err := decode(e.encode())
		if err != nil || !bytes.Equal(again.text, e.text) || !bytes.Equal(again.vector, e.vector) || again.state != e.state || again.space != e.space {
			t.Errorf("decode(encode(%v)) = %v, %v", e, again, err)
		}
		found, err := indexed(storage.Record{Content: content, Revision: 1}, e.space)
		if err == nil && (found.Vector == nil) != (e.state == pending) {
			t.Errorf("the index gets the vector %v of an entry with the state %d", found.Vector, e.state)
		}
	})
}

func TestEncodedVectors(t *testing.T) {
	vector := []float32{0, 1, -1, math.MaxFloat32, math.SmallestNonzeroFloat32}
	if got := decodeVector(encodeVector(vector)); !slices.Equal(got, vector) {
		t.Errorf("decodeVector(encodeVector(%v)) = %v", vector, got)
	}
}
