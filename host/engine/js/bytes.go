package js

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// encodeText is encode(text, encoding): the bytes of a text, as Buffer.from reads it.
func (r *run) encodeText(call goja.FunctionCall) goja.Value {
	text, ok := call.Argument(0).(goja.String)
	if !ok {
		return r.bytes(nil)
	}
	switch call.Argument(1).String() {
	case "hex":
		return r.bytes(fromHex(text.String()))
	case "base64", "base64url":
		return r.bytes(fromBase64(text.String()))
	case "latin1", "ascii":
		return r.bytes(lowBytes(text))
	case "utf16le":
		data := make([]byte, 0, 2*text.Length())
		for i := range text.Length() {
			unit := text.CharAt(i)
			data = append(data, byte(unit), byte(unit>>8))
		}
		return r.bytes(data)
	}
	return r.bytes([]byte(text.String()))
}

func lowBytes(text goja.String) []byte {
	data := make([]byte, text.Length())
	for i := range data {
		data[i] = byte(text.CharAt(i))
	}
	return data
}

// fromHex reads pairs of digits up to the first that is none.
func fromHex(text string) []byte {
	n := 0
	for n+1 < len(text) && isHex(text[n]) && isHex(text[n+1]) {
		n += 2
	}
	data := make([]byte, n/2)
	_, _ = hex.Decode(data, []byte(text[:n])) // only digits are left
	return data
}

// fromBase64 reads both alphabets, passes over what is in neither, and ends at the padding.
func fromBase64(text string) []byte {
	digits := make([]byte, 0, len(text))
	for i := range len(text) {
		switch c := text[i]; {
		case c == '=':
			return decodeBase64(digits)
		case c == '-':
			digits = append(digits, '+')
		case c == '_':
			digits = append(digits, '/')
		case c == '+' || c == '/' || isDecimal(c) || 'a' <= c|0x20 && c|0x20 <= 'z':
			digits = append(digits, c)
		}
	}
	return decodeBase64(digits)
}

func decodeBase64(digits []byte) []byte {
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1]
	}
	data := make([]byte, base64.RawStdEncoding.DecodedLen(len(digits)))
	n, _ := base64.RawStdEncoding.Decode(data, digits)
	return data[:n]
}

// decodeText is decode(buffer, offset, length, encoding): the text of bytes.
func (r *run) decodeText(call goja.FunctionCall) goja.Value {
	data := r.bytesAt(call, 0)
	switch call.Argument(3).String() {
	case "hex":
		return r.vm.ToValue(hex.EncodeToString(data))
	case "base64":
		return r.vm.ToValue(base64.StdEncoding.EncodeToString(data))
	case "base64url":
		return r.vm.ToValue(base64.RawURLEncoding.EncodeToString(data))
	case "latin1":
		return r.vm.ToValue(latin1(data, 0xFF))
	case "ascii":
		return r.vm.ToValue(latin1(data, 0x7F))
	case "utf16le":
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = uint16(data[2*i]) | uint16(data[2*i+1])<<8
		}
		return goja.StringFromUTF16(units)
	}
	return r.vm.ToValue(validUTF8(data))
}

func latin1(data []byte, mask byte) string {
	text := make([]byte, 0, len(data))
	for _, b := range data {
		text = utf8.AppendRune(text, rune(b&mask))
	}
	return string(text)
}

// validUTF8 replaces what is no UTF-8, each longest beginning of a character by one replacement character.
func validUTF8(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	text := make([]byte, 0, len(data)+16)
	for len(data) > 0 {
		c, size := utf8.DecodeRune(data)
		if c == utf8.RuneError && size == 1 {
			size = brokenLength(data)
		}
		text = utf8.AppendRune(text, c)
		data = data[size:]
	}
	return string(text)
}

// brokenLength is how many bytes at the start of data could have begun a character; at least 1.
func brokenLength(data []byte) int {
	least, most, length := byte(0x80), byte(0xBF), 1
	switch c := data[0]; {
	case 0xC2 <= c && c <= 0xDF:
		length = 2
	case 0xE0 <= c && c <= 0xEF:
		length = 3
	case 0xF0 <= c && c <= 0xF4:
		length = 4
	}
	switch data[0] {
	case 0xE0:
		least = 0xA0
	case 0xED:
		most = 0x9F
	case 0xF0:
		least = 0x90
	case 0xF4:
		most = 0x8F
	}
	for n := 1; n < length; n++ {
		if n >= len(data) || data[n] < least || data[n] > most {
			return n
		}
		least, most = 0x80, 0xBF
	}
	return length
}

// findBytes is find(buffer, offset, length, buffer, offset, length, from, last): where the second bytes are in the first.
func (r *run) findBytes(call goja.FunctionCall) goja.Value {
	all, wanted := r.bytesAt(call, 0), r.bytesAt(call, 3)
	from := int(min(max(call.Argument(6).ToInteger(), 0), int64(len(all))))
	if call.Argument(7).ToBoolean() {
		return r.vm.ToValue(bytes.LastIndex(all[:min(from+len(wanted), len(all))], wanted))
	}
	at := bytes.Index(all[from:], wanted)
	if at >= 0 {
		at += from
	}
	return r.vm.ToValue(at)
}
