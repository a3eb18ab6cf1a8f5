package binary

import (
	"math"
	"unicode/utf8"
)

// reader reads a part of a module and keeps the first error. After an error, every read returns
// zero. Callers therefore check err only before they use a value as an index.
type reader struct {
	wasm []byte
	at   int
	end  int
	err  *Error
}

func (r *reader) reject(kind Kind, offset int, format string, args ...any) {
	if r.err == nil {
		r.err = errorAt(kind, offset, format, args...)
		r.at = r.end
	}
}

func (r *reader) left() int { return r.end - r.at }

func (r *reader) byte() byte {
	if r.at >= r.end {
		r.reject(Malformed, r.at, "a section or a function body ends too early")
		return 0
	}
	r.at++
	return r.wasm[r.at-1]
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(r.left()) {
		r.reject(Malformed, r.at, "%d bytes are announced, but only %d bytes are left", n, r.left())
		return nil
	}
	r.at += int(n)
	return r.wasm[r.at-int(n) : r.at]
}

func (r *reader) u32() uint32 {
	// Most numbers are encoded in a single byte.
	if r.at < r.end && r.wasm[r.at] < 0x80 {
		r.at++
		return uint32(r.wasm[r.at-1])
	}
	v, n := Uint32(r.wasm[r.at:r.end])
	if n == 0 {
		r.reject(Malformed, r.at, "a number is truncated or exceeds 32 bits")
		return 0
	}
	r.at += n
	return v
}

func (r *reader) signed(bits int) int64 {
	v, n := signed(r.wasm[r.at:r.end], bits)
	if n == 0 {
		r.reject(Malformed, r.at, "a number is truncated or exceeds %d bits", bits)
		return 0
	}
	r.at += n
	return v
}

// count reads the number of entries that follow. Each entry takes at least one byte, and count
// rejects a number that exceeds the remaining bytes. The caller can therefore safely allocate
// memory for that number of entries.
func (r *reader) count(what string, limit int) int {
	start := r.at
	n := r.u32()
	switch {
	case r.err != nil:
		return 0
	case uint64(n) > uint64(r.left()):
		r.reject(Malformed, start, "%d %s do not fit the remaining %d bytes", n, what, r.left())
		return 0
	case n > math.MaxInt32 || int(n) > limit:
		r.reject(OverLimit, start, "the module has %d %s; the limit is %d", n, what, limit)
		return 0
	}
	return int(n)
}

func (r *reader) name(what string, limit int) string { return string(r.text(what, limit)) }

func (r *reader) text(what string, limit int) []byte {
	start := r.at
	n := r.u32()
	if uint64(n) > uint64(r.left()) {
		r.reject(Malformed, start, "%s has %d bytes, but only %d bytes are left", what, n, r.left())
		return nil
	}
	if uint64(n) > uint64(limit) {
		r.reject(OverLimit, start, "%s has %d bytes; the limit is %d", what, n, limit)
		return nil
	}
	text := r.bytes(n)
	if !utf8.Valid(text) {
		r.reject(Malformed, start, "%s is not valid UTF-8", what)
		return nil
	}
	return text
}

// index reads an index and checks that it is less than count.
func (r *reader) index(what string, count int) uint32 {
	start := r.at
	i := r.u32()
	if r.err == nil && uint64(i) >= uint64(count) {
		r.reject(Malformed, start, "the %s index %d is out of range (count %d)", what, i, count)
		return 0
	}
	return i
}

func (r *reader) valueType() ValueType {
	start := r.at
	t := ValueType(r.byte())
	if _, known := valueTypeNames[t]; r.err == nil && !known {
		r.rejectType(start, t)
		return 0
	}
	return t
}

func (r *reader) refType() ValueType {
	start := r.at
	t := ValueType(r.byte())
	if r.err == nil && t != FuncRef && t != ExternRef {
		r.rejectType(start, t)
		return 0
	}
	return t
}

func (r *reader) rejectType(offset int, t ValueType) {
	switch {
	case t == 0x69:
		r.reject(Unsupported, offset, "exception types are not supported; build without -fwasm-exceptions")
	case t == 0x63 || t == 0x64:
		r.reject(Unsupported, offset, "typed function references are not supported; build for WebAssembly 2.0")
	case t >= 0x65 && t <= 0x74:
		r.reject(Unsupported, offset, "garbage-collected types are not supported; build for WebAssembly 2.0")
	default:
		r.reject(Malformed, offset, "unknown value type %#02x", byte(t))
	}
}
