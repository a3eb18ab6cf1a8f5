package binary

// AppendUint32 appends v as unsigned LEB128. All counts, sizes and indexes are encoded as unsigned
// LEB128.
func AppendUint32(to []byte, v uint32) []byte {
	for v >= 0x80 {
		to = append(to, byte(v)|0x80)
		v >>= 7
	}
	return append(to, byte(v))
}

// AppendInt64 appends v as signed LEB128. The constants of i32.const and i64.const are encoded as
// signed LEB128.
func AppendInt64(to []byte, v int64) []byte {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(to, low)
		}
		to = append(to, low|0x80)
	}
}

// AppendName appends the length of a string and then the string. All names are encoded with their
// length.
func AppendName(to []byte, name string) []byte {
	return append(AppendUint32(to, uint32(len(name))), name...)
}

// Uint32 reads an unsigned LEB128 number from the start of data. Uint32 also returns the size of
// the encoding in bytes. The size is 0 if the number is incomplete or exceeds 32 bits.
func Uint32(data []byte) (v uint32, size int) {
	for i := 0; i < len(data) && i < 5; i++ {
		b := data[i]
		if i == 4 && b > 0x0f {
			return 0, 0
		}
		v |= uint32(b&0x7f) << (7 * i)
		if b < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// signed reads a signed LEB128 number from the start of data, like Uint32. bits is the maximum
// width of the number.
func signed(data []byte, bits int) (v int64, size int) {
	for i, shift := 0, 0; i < len(data) && shift < bits; i++ {
		b := data[i]
		v |= int64(b&0x7f) << shift
		shift += 7
		if b >= 0x80 {
			continue
		}
		if shift < 64 && b&0x40 != 0 {
			v |= -1 << shift
		}
		// Bits of the last byte that are beyond the width of the number must repeat the sign bit.
		if over := shift - bits; over > 0 {
			top := int8(b<<1) >> (7 - over)
			if top != 0 && top != -1 {
				return 0, 0
			}
		}
		return v, i + 1
	}
	return 0, 0
}
