// A chain of prototypes, at whose end a name is looked for.
// expect: stack_limit or memory_limit
// timeout: 20s
// needs: wall
let o = {};
for (let i = 0; i < 3e6; i++) o = Object.create(o);
return o.a;
