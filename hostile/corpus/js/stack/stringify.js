// An array within an array, written by JSON.stringify.
// expect: stack_limit or memory_limit
// timeout: 20s
// needs: wall
let a = [];
for (let i = 0; i < 3e6; i++) a = [a];
return JSON.stringify(a).length;
