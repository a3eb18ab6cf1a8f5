package extract

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/toolrun/toolrun/abi"
)

// request is the input of a run.
type request struct {
	Format    string `json:"format"`
	TextBytes int    `json:"text_bytes,omitempty"`
	Data      []byte `json:"data"`
}

// dataPrefix is the text that precedes the data in an encoded request. The data is encoded in
// base64 and therefore contains no quotes.
var dataPrefix = []byte(`"data":"`)

// input encodes a request. The function copies the data as it is, because base64 needs no escapes.
func (r request) input() json.RawMessage {
	name, _ := json.Marshal(r.Format) // a string can always be encoded
	input := make([]byte, 0, base64.StdEncoding.EncodedLen(len(r.Data))+len(name)+64)
	input = append(append(input, `{"format":`...), name...)
	input = strconv.AppendInt(append(input, `,"text_bytes":`...), int64(r.TextBytes), 10)
	input = append(append(input, ','), dataPrefix...)
	return append(base64.StdEncoding.AppendEncode(input, r.Data), `"}`...)
}

// requestOf decodes a request. Before requestOf decodes the JSON, it removes the data. Otherwise,
// the JSON decoder would read each byte of the data twice, which takes a second for a large
// document.
func requestOf(input json.RawMessage) (r request, err error) {
	before, rest, _ := bytes.Cut(input, dataPrefix)
	data, after, ok := bytes.Cut(rest, []byte{'"'})
	if !ok {
		err = json.Unmarshal(input, &r)
	} else {
		err = json.Unmarshal(slices.Concat(before, dataPrefix, []byte{'"'}, after), &r)
	}
	if err == nil && ok {
		r.Data, err = base64.StdEncoding.AppendDecode(nil, data)
	}
	if err != nil {
		return request{}, abi.Faultf(abi.InvalidArgument, "the input must contain a format and base64 data")
	}
	return r, nil
}
