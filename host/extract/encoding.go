package extract

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// sampleBytes is the size of the sample from which an encoding is guessed.
const sampleBytes = 16 << 10

// decodeText returns about limit bytes of a text as UTF-8, and false for data that is not text. The
// encodings are UTF-8, UTF-16 with or without a byte order mark, and older ones, which are guessed
// by the frequency of bytes.
func decodeText(data []byte, limit int) ([]byte, bool) {
	if order, rest := byteOrder(data); order != nil {
		units := min(len(rest)/2, limit+1) // each is at least one byte of UTF-8
		return fromUTF16(rest[:2*units], order), true
	}
	data = withoutMark(data)
	start := data[:min(len(data), limit+utf8.UTFMax)]
	if len(start) < len(data) {
		start = wholeRunes(start)
	}
	if mostlyUTF8(start) {
		return bytes.ToValidUTF8(start, []byte("\uFFFD")), true
	}
	if bytes.ContainsFunc(start, isBinary) {
		return nil, false
	}
	text, err := charsetOf(start[:min(len(start), sampleBytes)]).NewDecoder().Bytes(start)
	return text, err == nil
}

// mostlyUTF8 reports whether a text is UTF-8 with at most a few damaged bytes.
func mostlyUTF8(text []byte) bool {
	const worth = 10 // how many valid characters offset a damaged one
	sound, damaged := 0, 0
	for rest := text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			damaged++
		case n > 1:
			sound++
		}
		rest = rest[n:]
	}
	return damaged == 0 || sound >= worth*damaged
}

// isBinary reports whether a character does not occur in text, by the section "binary data byte" of
// the WHATWG's MIME sniffing standard.
func isBinary(r rune) bool {
	return r <= 0x08 || r == 0x0B || r >= 0x0E && r <= 0x1A || r >= 0x1C && r <= 0x1F
}

// withoutMark removes the byte order mark of UTF-8.
func withoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")) }

// byteOrder returns the byte order of UTF-16 and the text without its mark, nil if the data is not
// UTF-16.
func byteOrder(data []byte) (order binary.ByteOrder, rest []byte) {
	switch {
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return binary.LittleEndian, data[2:]
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return binary.BigEndian, data[2:]
	}
	return unmarkedOrder(data), data
}

// unmarkedOrder detects UTF-16 without a mark. In most languages one byte of many characters is
// zero, for example of spaces, and the data decodes as text. In the wrong byte order hardly any
// data does.
func unmarkedOrder(data []byte) binary.ByteOrder {
	sample := data[:min(len(data), sampleBytes)&^1]
	zeros := [2]int{}
	for i, b := range sample {
		if b == 0 {
			zeros[i%2]++
		}
	}
	order, many, few := binary.ByteOrder(binary.LittleEndian), zeros[1], zeros[0]
	if few > many {
		order, many, few = binary.BigEndian, few, many
	}
	const short, high, low = 64, 2, 10
	share := low // one in so many characters is below U+0100
	if len(sample) < short {
		share = high
	}
	if many*2*share < len(sample) || many == 0 || few > 0 || len(data)%2 != 0 && len(data) < sampleBytes {
		return nil
	}
	text := wholeRunes(fromUTF16(sample[:max(len(sample)-2, 0)], order)) // the last unit can be half of a pair
	if bytes.ContainsFunc(text, isBinary) || bytes.ContainsRune(text, utf8.RuneError) {
		return nil
	}
	return order
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

// wholeRunes removes an incomplete character at the end.
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
