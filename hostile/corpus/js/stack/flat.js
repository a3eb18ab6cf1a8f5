// An array within an array, flattened by a function that calls itself for each level.
// expect: stack_limit or memory_limit
// timeout: 20s
// needs: wall
let a = [];
for (let i = 0; i < 5e6; i++) a = [a];
return a.flat(Infinity).length;
