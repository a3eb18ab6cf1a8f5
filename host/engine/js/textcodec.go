package js

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// textCodec converts between strings and bytes for the modules of Buffer, TextEncoder and atob.
type textCodec struct{ *realm }

// encode implements encode(text, encoding). Like Buffer.from, encode returns the bytes of a text.
func (c textCodec) encode(call goja.FunctionCall) goja.Value {
	text, ok := call.Argument(0).(goja.String)
	if !ok {
		return newArrayBuffer(c.vm, nil)
	}
	switch call.Argument(1).String() {
	case "hex":
		return newArrayBuffer(c.vm, fromHex(text.String()))
	case "base64", "base64url":
		return newArrayBuffer(c.vm, fromBase64(text.String()))
	case "latin1", "ascii":
		return newArrayBuffer(c.vm, lowBytes(text))
	case "utf16le":
		data := make([]byte, 0, 2*text.Length())
		for i := range text.Length() {
			unit := text.CharAt(i)
			data = append(data, byte(unit), byte(unit>>8))
		}
		return newArrayBuffer(c.vm, data)
	}
	return newArrayBuffer(c.vm, []byte(text.String()))
}

func lowBytes(text goja.String) []byte {
	data := make([]byte, text.Length())
	for i := range data {
		data[i] = byte(text.CharAt(i))
	}
	return data
}

// fromHex decodes pairs of hex digits. fromHex stops at the first character that is not a hex
// digit.
func fromHex(text string) []byte {
	n := 0
	for n+1 < len(text) && isHex(text[n]) && isHex(text[n+1]) {
		n += 2
	}
	data := make([]byte, n/2)
	_, _ = hex.Decode(data, []byte(text[:n])) // text[:n] contains only digits
	return data
}

// fromBase64 decodes the standard and the URL alphabet of base64, skips other characters and stops
// at the padding.
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

// decode implements decode(buffer, offset, length, encoding). decode returns the text of the bytes.
func (c textCodec) decode(call goja.FunctionCall) goja.Value {
	data := bytesAt(call, 0)
	switch call.Argument(3).String() {
	case "hex":
		return c.vm.ToValue(hex.EncodeToString(data))
	case "base64":
		return c.vm.ToValue(base64.StdEncoding.EncodeToString(data))
	case "base64url":
		return c.vm.ToValue(base64.RawURLEncoding.EncodeToString(data))
	case "latin1":
		return c.vm.ToValue(latin1(data, 0xFF))
	case "ascii":
		return c.vm.ToValue(latin1(data, 0x7F))
	case "utf16le":
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = uint16(data[2*i]) | uint16(data[2*i+1])<<8
		}
		return goja.StringFromUTF16(units)
	}
	return c.vm.ToValue(validUTF8(data))
}

func latin1(data []byte, mask byte) string {
	text := make([]byte, 0, len(data))
	for _, b := range data {
		text = utf8.AppendRune(text, rune(b&mask))
	}
	return string(text)
}

// validUTF8 replaces invalid UTF-8. An incomplete character is replaced as a whole by one
// replacement character. Each other invalid byte is replaced by a separate replacement character.
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

// brokenLength returns the length of the incomplete character at the start of "data". If the first
// byte cannot begin a character, brokenLength returns 1.
func brokenLength(data []byte) int {
	low, high, length := byte(0x80), byte(0xBF), 1
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
		low = 0xA0
	case 0xED:
		high = 0x9F
	case 0xF0:
		low = 0x90
	case 0xF4:
		high = 0x8F
	}
	for n := 1; n < length; n++ {
		if n >= len(data) || data[n] < low || data[n] > high {
			return n
		}
		low, high = 0x80, 0xBF
	}
	return length
}

// find implements find(buffer, offset, length, buffer, offset, length, from, last). The method
// searches the first buffer for the bytes of the second buffer and returns their index.
func (c textCodec) find(call goja.FunctionCall) goja.Value {
	all, wanted := bytesAt(call, 0), bytesAt(call, 3)
	from := int(min(max(call.Argument(6).ToInteger(), 0), int64(len(all))))
	if call.Argument(7).ToBoolean() {
		return c.vm.ToValue(bytes.LastIndex(all[:min(from+len(wanted), len(all))], wanted))
	}
	at := bytes.Index(all[from:], wanted)
	if at >= 0 {
		at += from
	}
	return c.vm.ToValue(at)
}

func (c textCodec) toUTF8(call goja.FunctionCall) goja.Value {
	return newArrayBuffer(c.vm, []byte(call.Argument(0).String()))
}

// fromUTF8 implements fromUTF8(buffer, fatal). fromUTF8 returns null if the bytes are not valid
// UTF-8 and fatal is true.
func (c textCodec) fromUTF8(call goja.FunctionCall) goja.Value {
	buffer := call.Argument(0)
	if buffer.ExportType() != bufferType {
		return goja.Null()
	}
	text := string(buffer.Export().(goja.ArrayBuffer).Bytes())
	if !utf8.ValidString(text) {
		if call.Argument(1).ToBoolean() {
			return goja.Null()
		}
		text = validUTF8([]byte(text))
	}
	return c.vm.ToValue(text)
}

// btoa returns null if a character does not fit into one byte.
func (c textCodec) btoa(call goja.FunctionCall) goja.Value {
	text := call.Argument(0).String()
	bytes := make([]byte, 0, len(text))
	for _, c := range text {
		if c > 0xFF {
			return goja.Null()
		}
		bytes = append(bytes, byte(c))
	}
	return c.vm.ToValue(base64.StdEncoding.EncodeToString(bytes))
}

// atob returns null if the text is not base64. Padding is optional, and white space is allowed.
func (c textCodec) atob(call goja.FunctionCall) goja.Value {
	text := strings.Join(strings.Fields(call.Argument(0).String()), "")
	if len(text)%4 == 0 {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "="), "=")
	}
	bytes, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return goja.Null()
	}
	characters := make([]rune, len(bytes))
	for i, b := range bytes {
		characters[i] = rune(b)
	}
	return c.vm.ToValue(string(characters))
}

// newArrayBuffer returns an ArrayBuffer that shares the memory of b.
func newArrayBuffer(vm *goja.Runtime, b []byte) goja.Value { return vm.ToValue(vm.NewArrayBuffer(b)) }

// bytesAt returns the bytes that three arguments of a call describe: a buffer, an offset and a
// length. n is the index of the argument that contains the buffer. A guest can change the functions
// that our modules use, so an offset or a length can be out of range. bytesAt clamps such values.
func bytesAt(call goja.FunctionCall, n int) []byte {
	buffer, ok := call.Argument(n).(*goja.Object)
	if !ok || buffer.ExportType() != bufferType {
		return nil
	}
	all := buffer.Export().(goja.ArrayBuffer).Bytes()
	start := min(max(call.Argument(n+1).ToInteger(), 0), int64(len(all)))
	length := min(max(call.Argument(n+2).ToInteger(), 0), int64(len(all))-start)
	return all[start : start+length]
}
