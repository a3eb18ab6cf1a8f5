// Conversion of strings: AssemblyScript uses UTF-16, and the ABI uses UTF-8.

// encode converts a string to UTF-8, and null to no bytes. UTF-8 has no lone surrogates, so they
// become U+FFFD.
export function encode(value: string | null): ArrayBuffer {
  if (value === null) return new ArrayBuffer(0);
  return String.UTF8.encode(value, false, String.UTF8.ErrorMode.REPLACE);
}

// at returns the address of the bytes, or 0 if there are none, which the ABI treats as absent.
export function at(bytes: ArrayBuffer): usize {
  return bytes.byteLength > 0 ? changetype<usize>(bytes) : 0;
}

// decode reads a text with a function of the ABI and converts it to a string.
export function decode(len: i32, read: (ptr: usize, offset: i32, len: i32) => i32): string {
  const bytes = new ArrayBuffer(len);
  const got = read(changetype<usize>(bytes), 0, len);
  return String.UTF8.decodeUnsafe(changetype<usize>(bytes), max(got, 0));
}
