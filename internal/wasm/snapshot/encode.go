package snapshot

import (
	"encoding/binary"
	"errors"
)

// formatMark is the start of an encoded Module. formatMark changes when the format changes.
const formatMark = "toolrun module 1\n"

var errFormat = errors.New("the data is not a rewritten module")

// MarshalBinary encodes a Module for a trusted file.
func (m *Module) MarshalBinary() ([]byte, error) {
	start := byte(0)
	if m.start {
		start = 1
	}
	out := make([]byte, 0, len(m.Binary)+len(m.memory)+1024)
	out = append(out, formatMark...)
	out = append(out, start)
	out = binary.AppendUvarint(out, m.bytes)
	out = binary.AppendUvarint(out, uint64(len(m.globals)))
	for _, name := range m.globals {
		out = appendBytes(out, []byte(name))
	}
	return appendBytes(appendBytes(out, m.memory), m.Binary), nil
}

func appendBytes(out, b []byte) []byte {
	return append(binary.AppendUvarint(out, uint64(len(b))), b...)
}

// UnmarshalBinary decodes the output of MarshalBinary. The Module refers to data, which must not
// change afterward. UnmarshalBinary rejects other formats, but it does not detect manipulated data.
// The caller must therefore make sure that the data can be trusted.
func (m *Module) UnmarshalBinary(data []byte) error {
	if len(data) <= len(formatMark) || string(data[:len(formatMark)]) != formatMark {
		return errFormat
	}
	r := reader(data[len(formatMark)+1:])
	read := Module{start: data[len(formatMark)] == 1}
	var ok bool
	if read.bytes, ok = r.number(); !ok {
		return errFormat
	}
	count, ok := r.number()
	if !ok || count > uint64(len(r)) {
		return errFormat
	}
	for range count {
		name, ok := r.bytes()
		if !ok {
			return errFormat
		}
		read.globals = append(read.globals, string(name))
	}
	if read.memory, ok = r.bytes(); !ok || uint64(len(read.memory)) > read.bytes {
		return errFormat
	}
	if read.Binary, ok = r.bytes(); !ok || len(r) > 0 {
		return errFormat
	}
	*m = read
	return nil
}

// reader contains the data that is not decoded yet.
type reader []byte

func (r *reader) number() (uint64, bool) {
	value, n := binary.Uvarint(*r)
	if n <= 0 {
		return 0, false
	}
	*r = (*r)[n:]
	return value, true
}

func (r *reader) bytes() ([]byte, bool) {
	length, ok := r.number()
	if !ok || length > uint64(len(*r)) {
		return nil, false
	}
	b := (*r)[:length:length]
	*r = (*r)[length:]
	return b, true
}
