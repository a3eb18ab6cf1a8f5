// An object with a new key in each turn.
// expect: memory_limit
// needs: wall
const o = {};
for (let i = 0; ; i++) o["key number " + i] = i;
