// A million jobs, each waiting for the ones before it.
// expect: memory_limit
// needs: wall
const all = [];
for (;;) all.push((async () => { await all; })());
