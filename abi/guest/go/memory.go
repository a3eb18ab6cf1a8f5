package toolrun

import (
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
)

// Record is what memory tells of a record beside its content.
type Record struct {
	// Revision counts the record's writes; 0 where there is no record, or where a write tells nothing about it.
	Revision int64 `json:"revision"`
	// Created, Updated and Expires are times in UTC as RFC 3339 writes them, and "" where they are not known; Expires
	// also where the record stays. They are texts since to read times makes a plug-in 0.2 MB larger.
	Created string `json:"created"`
	Updated string `json:"updated_at"`
	Expires string `json:"expires_at"`
}

// GetContent decodes the content of a store into what into points to, by encoding/json. Where there is none it
// returns false and leaves into alone. It may be given [Project].
func GetContent(store string, into any, options ...Option) (found bool, err error) {
	r := ask(options)
	reply, err := perform(imports.GetContent, abi.GetContent, storeName(store), r.projection, r.optionsOrNil())
	if err != nil {
		return false, err
	}
	return decode(store, reply, into)
}

// GetRecord is GetContent that also tells of the record; its Revision is 0 where there is none.
func GetRecord(store string, into any, options ...Option) (Record, error) {
	r := ask(append(options[:len(options):len(options)], set("record", true)))
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

// SetContent merges value into the content of a store, as a JSON Merge Patch (RFC 7396): objects deeply, arrays as
// a whole, and null removes. Where there is no content, it makes one. It may be given [Replace], [IfRevision] and
// [TTL]. A merge into a record that the run has not read tells no revision, for then it cannot conflict with
// other runs either.
//
// A value that encoding/json refuses is abi.InvalidArgument, and the host is not asked.
func SetContent(store string, value any, options ...Option) (Record, error) {
	if value == nil {
		value = json.RawMessage("null") // nil is an absent argument
	}
	reply, err := perform(imports.SetContent, abi.SetContent, storeName(store), value, ask(options).optionsOrNil())
	if err != nil {
		return Record{}, err
	}
	var written Record
	_, err = decode(store, reply, &written)
	return written, err
}

// DeleteContent deletes the record of a store and reports whether there was one. It may be given [IfRevision].
func DeleteContent(store string, options ...Option) (deleted bool, err error) {
	reply, err := perform(imports.DeleteContent, abi.DeleteContent, storeName(store), ask(options).optionsOrNil())
	if err != nil {
		return false, err
	}
	var told struct {
		Deleted bool `json:"deleted"`
	}
	_, err = decode(store, reply, &told)
	return told.Deleted, err
}
