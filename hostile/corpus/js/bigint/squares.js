// A number that is squared until it is all memory.
// expect: memory_limit or timeout
// needs: wall
let n = 3n;
for (;;) n *= n;
