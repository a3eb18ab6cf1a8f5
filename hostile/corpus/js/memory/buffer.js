// A buffer of four gigabytes, which is nothing until it is touched.
// expect: memory_limit
// needs: wall
const bytes = new Uint8Array(2 ** 32);
for (let i = 0; i < bytes.length; i += 4096) bytes[i] = 1;
return bytes.length;
