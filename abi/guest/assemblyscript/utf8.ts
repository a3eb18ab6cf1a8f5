// Strings of AssemblyScript are UTF-16, and those of the ABI UTF-8: they are converted here, at the border.

// encode makes UTF-8 of a string; of null none. Half a surrogate pair, which UTF-8 cannot say, becomes U+FFFD.
export function encode(value: string | null): ArrayBuffer {
  if (value === null) return new ArrayBuffer(0);
  return String.UTF8.encode(value, false, String.UTF8.ErrorMode.REPLACE);
}

// at is where the bytes begin; 0 where there are none, for the ABI's absent.
export function at(bytes: ArrayBuffer): usize {
  return bytes.byteLength > 0 ? changetype<usize>(bytes) : 0;
}

// decode makes a string of what a function of the ABI reads.
export function decode(len: i32, read: (ptr: usize, offset: i32, len: i32) => i32): string {
  const bytes = new ArrayBuffer(len);
  const got = read(changetype<usize>(bytes), 0, len);
  return String.UTF8.decodeUnsafe(changetype<usize>(bytes), max(got, 0));
}
