// A text that is doubled until it is all memory.
// expect: memory_limit
// needs: wall
let s = "x";
for (;;) s += s;
