package document

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
)

// sink takes in text up to a limit.
type sink struct {
	text      []byte
	limit     int // in bytes
	truncated bool
}

// write reports whether there is room for more.
func (s *sink) write(text string) bool {
	if room := s.limit - len(s.text); len(text) > room {
		text, s.truncated = string(wholeRunes([]byte(text[:max(room, 0)]))), true
	}
	s.text = append(s.text, text...)
	return !s.truncated
}

// last is the last byte, a newline where there is none.
func (s *sink) last() byte {
	if len(s.text) == 0 {
		return '\n'
	}
	return s.text[len(s.text)-1]
}

// readText reads a text file.
func readText(data []byte, out *sink) error {
	if order := byteOrder(data); order != nil {
		data = data[2:]
		units := min(len(data)/2, out.limit+1) // each is a byte of UTF-8 at least
		out.write(string(fromUTF16(data[:2*units], order)))
		return nil
	}
	return writeUTF8(withoutMark(data), "the text", out)
}

// readJSON reads a JSON file, which stays as it is.
func readJSON(data []byte, out *sink) error {
	data = withoutMark(data)
	var value json.RawMessage
	if err := json.Unmarshal(data, &value); err != nil {
		return abi.Faultf(abi.InvalidArgument, "the JSON cannot be read: %s", printable(err.Error()))
	}
	return writeUTF8(data, "the JSON", out)
}

func writeUTF8(data []byte, what string, out *sink) error {
	if !utf8.Valid(data) {
		return abi.Faultf(abi.InvalidArgument, "%s cannot be read: it is not in UTF-8", what)
	}
	out.write(string(data[:min(len(data), out.limit+utf8.UTFMax)]))
	return nil
}

// withoutMark cuts the byte order mark that some put before UTF-8.
func withoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")) }

// byteOrder is that of UTF-16 with a mark, nil for what is none.
func byteOrder(data []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return binary.BigEndian
	}
	return nil
}

func fromUTF16(data []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	text := make([]byte, 0, len(units))
	for _, r := range utf16.Decode(units) {
		text = utf8.AppendRune(text, r)
	}
	return text
}

// wholeRunes cuts the beginning of a character off the end.
func wholeRunes(text []byte) []byte {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}

// printable is the beginning of a text that may quote a document, for a message.
func printable(text string) string {
	out := []rune{}
	for _, r := range text {
		if len(out) == 200 {
			return string(out) + "…"
		}
		if r < ' ' || r == 0x7F || hides(r) {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}
