// A function bound a million times, called once.
// expect: stack_limit or memory_limit
// timeout: 20s
// needs: wall
let f = () => 1;
for (let i = 0; i < 3e6; i++) f = f.bind(null);
return f();
