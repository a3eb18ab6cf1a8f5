package toolrun

import (
	"bytes"
	"encoding/json"
	"fmt"

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
	reply, err := Call(abi.GetContent, store, r.projection, r.optionsOrNil())
	if err != nil {
		return false, err
	}
	return decode(store, reply, into)
}

// GetRecord is GetContent that also tells of the record; its Revision is 0 where there is none.
func GetRecord(store string, into any, options ...Option) (Record, error) {
	r := ask(append(options[:len(options):len(options)], set("record", true)))
	reply, err := Call(abi.GetContent, store, r.projection, r.optionsOrNil())
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
		value = json.RawMessage("null") // for Call, nil is absent
	}
	reply, err := Call(abi.SetContent, store, value, ask(options).optionsOrNil())
	if err != nil {
		return Record{}, err
	}
	var written Record
	_, err = decode(store, reply, &written)
	return written, err
}

// DeleteContent deletes the record of a store and reports whether there was one. It may be given [IfRevision].
func DeleteContent(store string, options ...Option) (deleted bool, err error) {
	reply, err := Call(abi.DeleteContent, store, ask(options).optionsOrNil())
	if err != nil {
		return false, err
	}
	var told struct {
		Deleted bool `json:"deleted"`
	}
	_, err = decode(store, reply, &told)
	return told.Deleted, err
}

// Call performs an operation of the ABI and returns its reply as it is. The arguments are in the order of the
// operation's parameters; nil is an absent one. The functions above are made of it, and it is for what they lack.
func Call(op, store string, args ...any) (json.RawMessage, error) {
	texts := []string{store}
	for i, arg := range args {
		if arg == nil {
			texts = append(texts, "")
			continue
		}
		text, err := encode(arg)
		if err != nil {
			return nil, refused(op, store, fmt.Sprintf("%s: argument %d cannot be JSON: %v", op, i+2, err))
		}
		texts = append(texts, string(text))
	}
	reply, number, known := imports.Call(op, texts)
	switch {
	case !known:
		return nil, refused(op, store, fmt.Sprintf("there is no operation %q of %d arguments", op, len(texts)))
	case number < 0:
		return nil, issued(op, store, number, reply)
	}
	return reply, nil
}

// decode reads a reply; false where it is null.
func decode(store string, reply []byte, into any) (bool, error) {
	if len(reply) == 0 || bytes.Equal(reply, []byte("null")) {
		return false, nil
	}
	if err := json.Unmarshal(reply, into); err != nil {
		return true, fmt.Errorf("read %s: %w", store, err)
	}
	return true, nil
}
