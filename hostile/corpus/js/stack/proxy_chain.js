// A proxy of a proxy of a proxy: built in a loop, read in one step that calls itself for each.
// expect: stack_limit or memory_limit
// timeout: 20s
// needs: wall
let p = {};
for (let i = 0; i < 3e6; i++) p = new Proxy(p, {});
return p.a;
