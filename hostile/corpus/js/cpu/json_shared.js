// An object that is small because its parts are shared is written out whole: 2^30 times.
// expect: timeout or memory_limit
// needs: wall
let shared = [];
for (let i = 0; i < 30; i++) shared = [shared, shared];
return JSON.stringify(shared).length;
