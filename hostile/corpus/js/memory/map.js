// A Map whose keys are objects that nothing else keeps.
// expect: memory_limit
// needs: wall
const map = new Map();
for (;;) map.set({}, {});
