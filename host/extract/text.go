package extract

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// sink collects text up to a maximum size.
type sink struct {
	text      []byte
	limit     int // in bytes
	truncated bool
}

// write adds text. The method also reports whether more text can be added.
func (s *sink) write(text string) bool {
	if room := s.limit - len(s.text); len(text) > room {
		text, s.truncated = string(wholeRunes([]byte(text[:max(room, 0)]))), true
	}
	s.text = append(s.text, text...)
	return !s.truncated
}

// The method "last" returns the last byte of the text. If the text is empty, the method returns a
// newline.
func (s *sink) last() byte {
	if len(s.text) == 0 {
		return '\n'
	}
	return s.text[len(s.text)-1]
}

// result returns the collected text. If the document is damaged, the result contains the text that
// was read before the error.
func (s *sink) result(err error) (Text, error) {
	unreadable, ok := errors.AsType[*textError](err)
	if err != nil && !ok {
		return Text{}, err
	}
	switch empty := len(bytes.TrimSpace(s.text)) == 0; {
	case empty && ok:
		return Text{Reason: unreadable.reason}, nil
	case empty && s.truncated:
		return Text{Reason: TooComplex}, nil
	case empty:
		return Text{Reason: NoText}, nil
	}
	return Text{Text: string(s.text), Truncated: s.truncated || ok}, nil
}

// readText reads a text file.
func readText(data []byte, out *sink) error {
	text, ok := decodeText(data, out.limit)
	if !ok {
		return noText(UnknownEncoding, errors.New("the encoding is not recognized"))
	}
	out.write(string(text))
	return nil
}

// readJSON reads a JSON file. readJSON converts only the character encoding.
func readJSON(data []byte, out *sink) error {
	text := withoutMark(data)
	if !utf8.Valid(text) || json.Unmarshal(text, new(json.RawMessage)) != nil {
		decoded, ok := decodeText(data, len(data))
		if !ok {
			return noText(UnknownEncoding, errors.New("the encoding is not recognized"))
		}
		text = decoded
	}
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return noText(Damaged, err)
	}
	out.write(string(text[:min(len(text), out.limit+utf8.UTFMax)]))
	return nil
}
