// An array within an array becomes a text.
// expect: stack_limit or memory_limit
// timeout: 20s
// needs: wall
let a = [];
for (let i = 0; i < 3e6; i++) a = [a];
return String(a);
