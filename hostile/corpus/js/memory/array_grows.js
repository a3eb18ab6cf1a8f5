// An array that grows by one, for ever.
// expect: memory_limit
// needs: wall
const a = [];
for (;;) a.push({});
