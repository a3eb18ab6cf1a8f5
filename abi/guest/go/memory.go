package toolrun

import (
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
)

// Record is the metadata of a record.
type Record struct {
	// Revision is the number of writes of the record. If no record exists, or after a merge that
	// does not report the revision, Revision is 0.
	Revision int64 `json:"revision"`
	// Created, Updated and Expires are times in UTC (RFC 3339). A time is "" if it is not known.
	// Expires is also "" if the record does not expire. The fields are strings because parsing
	// times would make a plug-in 0.2 MB larger.
	Created string `json:"created"`
	Updated string `json:"updated_at"`
	Expires string `json:"expires_at"`
}

// GetContent decodes the content of a store into the variable that the argument "into" points to.
// GetContent uses package encoding/json. If no content exists, GetContent returns false and does
// not change the variable. GetContent supports the option [Project].
func GetContent(store string, into any, options ...Option) (found bool, err error) {
	r := newRequest(options)
	reply, err := perform(imports.GetContent, abi.GetContent, storeName(store), r.projection, r.optionsOrNil())
	if err != nil {
		return false, err
	}
	return decode(store, reply, into)
}

// GetRecord is like GetContent, but also returns the metadata of the record. If no record exists,
// the Revision is 0.
func GetRecord(store string, into any, options ...Option) (Record, error) {
	r := newRequest(append(options[:len(options):len(options)], set("record", true)))
	reply, err := perform(imports.GetContent, abi.GetContent, storeName(store), r.projection, r.optionsOrNil())
	if err != nil {
		return Record{}, err
	}
	var got struct {
		Record
		Content json.RawMessage `json:"content"`
	}
	if _, err := decode(store, reply, &got); err != nil {
		return Record{}, err
	}
	_, err = decode(store, got.Content, into)
	return got.Record, err
}

// SetContent merges value into the content of a store as a JSON Merge Patch (RFC 7396). Objects are
// merged deeply, arrays are replaced, and null removes a member. If no record exists, SetContent
// creates one. SetContent supports the options [Replace], [IfRevision] and [TTL]. If the run has
// not read the record, a merge does not return a revision, because the revision is not known before
// the commit.
//
// If encoding/json cannot encode the value, SetContent fails with abi.InvalidArgument without a
// call to the host.
func SetContent(store string, value any, options ...Option) (Record, error) {
	if value == nil {
		value = json.RawMessage("null") // perform would treat nil as an absent argument
	}
	reply, err := perform(imports.SetContent, abi.SetContent, storeName(store), value, newRequest(options).optionsOrNil())
	if err != nil {
		return Record{}, err
	}
	var written Record
	_, err = decode(store, reply, &written)
	return written, err
}

// DeleteContent deletes the record of a store and reports whether the record existed. DeleteContent
// supports the option [IfRevision].
func DeleteContent(store string, options ...Option) (deleted bool, err error) {
	reply, err := perform(imports.DeleteContent, abi.DeleteContent, storeName(store), newRequest(options).optionsOrNil())
	if err != nil {
		return false, err
	}
	var result struct {
		Deleted bool `json:"deleted"`
	}
	_, err = decode(store, reply, &result)
	return result.Deleted, err
}
