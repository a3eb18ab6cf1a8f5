// Many buffers, each small enough.
// expect: memory_limit
// needs: wall
const kept = [];
for (;;) kept.push(new Uint8Array(1 << 20).fill(1));
