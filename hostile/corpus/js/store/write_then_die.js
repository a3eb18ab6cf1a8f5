// A write before all memory is used up.
// expect: memory_limit
// needs: wall
await memory.set_content("shared", { marker: "written by a run that died" });
const kept = [];
for (;;) kept.push(new Uint8Array(1 << 22).fill(1));
