// A conversion changes the view that it is written to.
// expect: output
const bytes = new Uint8Array(16);
bytes.fill({ valueOf() { bytes.set(new Uint8Array(16).subarray(3), 1); bytes.sort(() => -1); return 7; } });
return bytes.length;
