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

// dataBegins is what stands before the data of a request. No quote is in them.
var dataBegins = []byte(`"data":"`)

// input writes a request. The data are many, and need no escapes.
func (r request) input() json.RawMessage {
	name, _ := json.Marshal(r.Format) // of a string, which always can be
	input := make([]byte, 0, base64.StdEncoding.EncodedLen(len(r.Data))+len(name)+64)
	input = append(append(input, `{"format":`...), name...)
	input = strconv.AppendInt(append(input, `,"text_bytes":`...), int64(r.TextBytes), 10)
	input = append(append(input, ','), dataBegins...)
	return append(base64.StdEncoding.AppendEncode(input, r.Data), `"}`...)
}

// requestOf reads a request. Data are taken out before the rest is read as JSON, which would look at each byte of them
// twice and takes a second for a large document.
func requestOf(input json.RawMessage) (r request, err error) {
	before, rest, _ := bytes.Cut(input, dataBegins)
	data, after, ok := bytes.Cut(rest, []byte{'"'})
	if !ok {
		err = json.Unmarshal(input, &r)
	} else {
		err = json.Unmarshal(slices.Concat(before, dataBegins, []byte{'"'}, after), &r)
	}
	if err == nil && ok {
		r.Data, err = base64.StdEncoding.AppendDecode(nil, data)
	}
	if err != nil {
		return request{}, abi.Faultf(abi.InvalidArgument, "the input is not what reading a document takes: a format, and data in base64")
	}
	return r, nil
}
