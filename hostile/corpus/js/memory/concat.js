// An array that is joined to itself.
// expect: memory_limit
// needs: wall
let a = [1, 2, 3];
for (;;) a = a.concat(a);
