// Conversion of strings: AssemblyScript uses UTF-16, and the ABI uses UTF-8.

// encode converts a string to UTF-8, and null to an empty buffer. encode replaces lone surrogates,
// which UTF-8 does not allow, with U+FFFD.
export function encode(value: string | null): ArrayBuffer {
  if (value === null) return new ArrayBuffer(0);
  return String.UTF8.encode(value, false, String.UTF8.ErrorMode.REPLACE);
}

// at returns the address of the bytes, or 0 if the buffer is empty. The ABI treats an empty
// argument as absent.
export function at(bytes: ArrayBuffer): usize {
  return bytes.byteLength > 0 ? changetype<usize>(bytes) : 0;
}

// decode reads UTF-8 with a function of the ABI and converts it to a string.
export function decode(len: i32, read: (ptr: usize, offset: i32, len: i32) => i32): string {
  const bytes = new ArrayBuffer(len);
  const got = read(changetype<usize>(bytes), 0, len);
  return String.UTF8.decodeUnsafe(changetype<usize>(bytes), max(got, 0));
}
