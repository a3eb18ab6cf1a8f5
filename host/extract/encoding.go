package extract

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// sampleBytes is the size of the sample of a text from which its encoding is guessed.
const sampleBytes = 16 << 10

// decodeText returns about limit bytes of a text as UTF-8. If the data is not text, decodeText
// returns false. decodeText supports UTF-8, UTF-16 with or without a byte order mark, and legacy
// encodings. decodeText guesses a legacy encoding from the frequencies of bytes.
func decodeText(data []byte, limit int) ([]byte, bool) {
	if order, rest := byteOrder(data); order != nil {
		units := min(len(rest)/2, limit+1) // in UTF-8, each character needs at least one byte
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

// mostlyUTF8 reports whether a text is UTF-8 with only a few invalid bytes.
func mostlyUTF8(text []byte) bool {
	const worth = 10 // one invalid character is accepted per this number of valid characters
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

// isBinary reports whether a character is a binary data byte as defined by the MIME Sniffing
// Standard of WHATWG. Binary data bytes do not occur in text.
func isBinary(r rune) bool {
	return r <= 0x08 || r == 0x0B || r >= 0x0E && r <= 0x1A || r >= 0x1C && r <= 0x1F
}

// withoutMark removes a UTF-8 byte order mark.
func withoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")) }

// byteOrder detects UTF-16. byteOrder returns the byte order, and the text without a byte order
// mark. If the data is not UTF-16, the byte order is nil.
func byteOrder(data []byte) (order binary.ByteOrder, rest []byte) {
	switch {
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return binary.LittleEndian, data[2:]
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return binary.BigEndian, data[2:]
	}
	return unmarkedOrder(data), data
}

// unmarkedOrder detects UTF-16 without a byte order mark. In most languages, many characters of a
// UTF-16 text contain a zero byte. For example, one of the two bytes of a space is zero. If data is
// decoded with the wrong byte order, the result is almost never valid text.
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
	share := low // of this number of consecutive characters, at least one must be below U+0100
	if len(sample) < short {
		share = high
	}
	if many*2*share < len(sample) || many == 0 || few > 0 || len(data)%2 != 0 && len(data) < sampleBytes {
		return nil
	}
	text := wholeRunes(fromUTF16(sample[:max(len(sample)-2, 0)], order)) // the last unit can be the first half of a surrogate pair
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

// wholeRunes removes an incomplete character at the end of a text.
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
